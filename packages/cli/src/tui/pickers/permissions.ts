import { describeGrant } from "@diligent/core/interactive";
import type { Grant, ScopedGrant } from "@diligent/core/run";
import type { OpenSession } from "../../open-session.ts";
import { toSingleLine } from "../../terminal-text.ts";
import { note } from "../commands/note.ts";
import type { CommandContext } from "../commands/types.ts";
import type { PickerItem } from "../view.ts";
import { changePicker, createPickerDialog, type Picker, replaceItems } from "./picker.ts";

const NAME = "permissions";
const TAKE_BACK = "ctrl+d";
const MAX_TEXT_COLUMNS = 200;
const RULE = "rule";

/** Shows the mode, what was allowed for good and the rules of the configuration; grants can be taken back. */
export async function showPermissions(context: CommandContext): Promise<void> {
  const opened = await context.session();
  const grants = await opened.grants.listByScope();
  const problem = await opened.grants.problem();
  if (problem !== undefined) context.show({ type: "notice", level: "warning", text: problem });
  const items = [...grants.map(toGrantItem), ...toRuleItems(opened)];
  if (items.length > 0) return context.open(createPicker(items, grants, { context, opened }));
  note(
    context,
    `The approval mode is ${opened.approval.mode}. Nothing was allowed for good, and there are no rules.`,
  );
}

function createPicker(
  items: readonly PickerItem[],
  grants: readonly ScopedGrant[],
  { context, opened }: { context: CommandContext; opened: OpenSession },
): Picker {
  const find = (id: string | undefined) => (id === undefined ? undefined : grants[Number(id)]);
  const ask = (id: string | undefined) => {
    const found = find(id);
    const question = found && `Take this back: ${describe(found.grant)}?`;
    const hint = "That is a rule of the configuration; it is changed in its file.";
    if (question !== undefined)
      context.change((view) => changePicker(view, NAME, (dialog) => ({ ...dialog, question })));
    else context.change((view) => ({ ...view, hint }));
  };
  return {
    dialog: createPickerDialog({
      name: NAME,
      title: `Allowed and forbidden (mode ${opened.approval.mode})`,
      items,
      keys: [{ key: TAKE_BACK, label: "take back" }],
    }),
    choose: (id) => note(context, items.find((item) => item.id === id)?.label ?? ""),
    pressKey: (_, id) => ask(id),
    async confirm(id) {
      const found = find(id);
      if (!found) return;
      await opened.grants.remove(found.grant);
      context.change((view) =>
        changePicker(view, NAME, (dialog) =>
          replaceItems(
            dialog,
            dialog.items.filter((item) => item.id !== id),
          ),
        ),
      );
      note(context, `Taken back: ${describe(found.grant)}. It is asked about again.`);
    },
  };
}

function toGrantItem({ grant, scope }: ScopedGrant, index: number): PickerItem {
  return { id: String(index), label: `allowed: ${describe(grant)}`, detail: `for this ${scope}` };
}

/** With the text itself where the words for a grant leave it out. */
function describe(grant: Grant): string {
  const text = grant.kind === "command_line" ? grant.text : grant.kind === "call" ? grant.details : undefined;
  const described = describeGrant(grant);
  return toSingleLine(text === undefined ? described : `${described}: ${text}`, MAX_TEXT_COLUMNS);
}

function toRuleItems({ loaded: { config, origins } }: OpenSession): PickerItem[] {
  const origin = origins.permissions ?? "configuration";
  return (config.permissions ?? []).map(({ action, permission, pattern }, index) => ({
    id: `${RULE}${index}`,
    label: `rule ${index + 1}: ${action} ${permission} ${pattern}`,
    detail: origin,
  }));
}
