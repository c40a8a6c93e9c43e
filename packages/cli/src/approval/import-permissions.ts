import type { ProjectSession } from "@diligent/core/harness";
import type { ForeignRule, ForeignRuleFile } from "@diligent/core/permissions";
import type { PermissionRule } from "@diligent/core/run";
import { toSingleLine } from "../text/terminal-text.ts";
import { describeKept, describeRule } from "./permissions.ts";

type Importing = Pick<
  ProjectSession,
  "approval" | "grants" | "loaded" | "redactor" | "reloadRules" | "workspace"
>;

const MAX_TEXT_COLUMNS = 300;

/** The files of other agents that hold rules. Nothing changes. */
export async function findImportableRules({ loaded, workspace }: Importing): Promise<ForeignRuleFile[]> {
  const { findForeignRules } = await import("@diligent/core/permissions");
  return findForeignRules(workspace.environment, loaded.projectRoot);
}

/** True if something of the file becomes a rule or an answer here. */
export function isImportable({ rules }: ForeignRuleFile): boolean {
  return rules.some(isCarriedOver);
}

function isCarriedOver({ rules, grants = [] }: ForeignRule): boolean {
  return rules.length > 0 || grants.length > 0;
}

/** The files with their numbers, and what each of their rules becomes. */
export function formatImport(files: readonly ForeignRuleFile[], { redactor }: Importing): string[] {
  if (files.length === 0) return ["No rules of Claude Code, opencode or Codex were found."];
  const lines = files.flatMap(({ agent, shown, scope, rules, problem }, index) => [
    `${index + 1}. ${agent}: ${toSingleLine(shown, MAX_TEXT_COLUMNS)}, ${
      scope === "user" ? "for your own configuration" : "for this project's diligent.jsonc"
    }`,
    ...(problem === undefined ? [] : [`     ${toSingleLine(problem, MAX_TEXT_COLUMNS)}`]),
    ...rules.filter(isCarriedOver).flatMap(formatRule),
    ...rules
      .filter((rule) => !isCarriedOver(rule))
      .flatMap(({ text, remark }) => [
        `     not carried over: ${toSingleLine(text, MAX_TEXT_COLUMNS)}`,
        ...(remark === undefined ? [] : [`       ${remark}`]),
      ]),
  ]);
  return redactor.redact(["Rules of other agents, and what they would become here:", ...lines]);
}

function formatRule({ text, rules, grants = [], remark }: ForeignRule): string[] {
  const become = [
    ...rules.map(describeRule),
    ...grants.map((grant) => `allowed for this project: ${describeKept(grant)}`),
  ];
  return [
    `     ${toSingleLine(text, MAX_TEXT_COLUMNS)}`,
    ...become.map((each) => `       → ${each}`),
    ...(remark === undefined ? [] : [`       ${remark}`]),
  ];
}

/**
 * Adds what the rules of a file become; it applies immediately. Returns the result in sentences.
 * @throws Error if a file is broken or not writable.
 */
export async function importRules(file: ForeignRuleFile, opened: Importing): Promise<string> {
  const { addImportedRules } = await import("@diligent/core/permissions");
  const { loaded, workspace, grants, redactor } = opened;
  const { scope, shown, rules } = file;
  const wanted = rules.flatMap((rule) => rule.rules);
  const answers = rules.flatMap((rule) => rule.grants ?? []);
  const parts: string[] = [];
  if (wanted.length > 0) {
    const target = { environment: workspace.environment, root: loaded.projectRoot, scope };
    const { path, count, needsTrust } = await addImportedRules(target, wanted);
    await opened.reloadRules();
    parts.push(
      count === 0 ? `All of them are in ${path} already.` : `Added ${countOf(count, "rule")} to ${path}.`,
    );
    if (needsTrust)
      parts.push(
        "Those that deny or ask apply now, unless your own rules say otherwise; those that allow wait for /trust.",
      );
    else if (count > 0) parts.push(describeEffect(wanted));
  }
  if (answers.length > 0) {
    await grants.addForProject(answers);
    parts.push(`Allowed for this project: ${countOf(answers.length, "host")}.`);
  }
  return redactor.redact(`${toSingleLine(shown, MAX_TEXT_COLUMNS)}: ${parts.join(" ")}`);
}

function countOf(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}

function describeEffect(added: readonly PermissionRule[]): string {
  const deniesAll = added.some(({ action, pattern }) => action === "deny" && /^\*+$/.test(pattern));
  return deniesAll ? "Active now; the model's tools change with /reload." : "Active now.";
}
