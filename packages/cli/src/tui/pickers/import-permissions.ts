import type { ForeignRuleFile } from "@diligent/core/permissions";
import {
  findImportableRules,
  formatImport,
  importRules,
  isImportable,
} from "../../approval/import-permissions.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import { type CommandContext, note } from "../commands/types.ts";
import { formatCount } from "../text.ts";
import { createChoice } from "./picker.ts";

const MAX_PATH_COLUMNS = 200;

/**
 * `/permissions import`: shows the rules of other agents and what they become, and asks which file is taken over. With an
 * argument, it is the number of a file, or `all`.
 * @throws Error for another argument, and if a file cannot be changed.
 */
export async function importPermissions(argument: string, context: CommandContext): Promise<void> {
  const opened = await context.session();
  const files = await findImportableRules(opened);
  const usable = files.filter(isImportable);
  if (argument !== "") {
    const chosen = argument === "all" ? usable : files.filter((_, index) => String(index + 1) === argument);
    if (chosen.length === 0)
      throw new Error(`There is nothing to import as ${argument}; /permissions import lists what there is.`);
    return importAll(chosen, context);
  }
  context.print(formatImport(files, opened).join("\n"));
  if (usable.length === 0) return;
  if (context.isPlain) {
    context.print(
      "Nothing was changed. /permissions import NUMBER imports a file, /permissions import all imports all.",
    );
    return;
  }
  const choices = usable.map((file) => ({
    label: `Import ${toSingleLine(opened.redactor.redact(file.shown), MAX_PATH_COLUMNS)}`,
    detail: describeCount(file),
    run: () => importAll([file], context),
  }));
  const all = { label: "Import all of them", run: () => importAll(usable, context) };
  context.open(
    createChoice("import-permissions", "Import these rules?", [
      { label: "Import nothing", run: () => {} },
      ...choices,
      ...(choices.length > 1 ? [all] : []),
    ]),
  );
}

function describeCount({ rules, scope }: ForeignRuleFile): string {
  const count = rules.reduce((sum, rule) => sum + rule.rules.length + (rule.grants?.length ?? 0), 0);
  return `${formatCount(count, "rule")} for ${scope === "user" ? "your configuration" : "this project"}`;
}

async function importAll(files: readonly ForeignRuleFile[], context: CommandContext): Promise<void> {
  const opened = await context.session();
  for (const file of files) note(context, await importRules(file, opened));
}
