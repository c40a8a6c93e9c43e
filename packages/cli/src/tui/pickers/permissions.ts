import type { ProjectSession } from "@diligent/core/harness";
import {
  addRule,
  describeRule,
  type ListedRule,
  listPermissions,
  type Permissions,
  RULE_SYNTAX,
  readRule,
  removeGrant,
  removeRule,
} from "../../approval/permissions.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../commands/types.ts";
import type { ActionId } from "../keys/keymap.ts";
import { notice, type PickerDialog, type PickerItem } from "../view.ts";
import { changePicker, createPickerDialog, type Picker, replaceItems } from "./picker.ts";

const NAME = "permissions";
const ADD_ID = "add";
const INPUT_LABEL = `Rule (${RULE_SYNTAX})`;

/** Shows permanent permissions and rules; the user can remove their own and add rules. */
export async function showPermissions(context: CommandContext): Promise<void> {
  const opened = await context.session();
  const permissions = await listPermissions(opened);
  for (const text of permissions.problems) context.show(notice("warning", text));
  context.open(new PermissionsPicker(context, opened, { permissions }));
}

/** Adds the rule that was given as an argument. */
export async function addWrittenRule(text: string, context: CommandContext): Promise<void> {
  const read = readRule(text);
  if ("problem" in read) throw new Error(read.problem);
  note(context, await addRule(read.rule, await context.session()));
}

class PermissionsPicker implements Picker {
  readonly dialog: PickerDialog;
  private permissions: Permissions;

  constructor(
    private readonly context: CommandContext,
    private readonly opened: ProjectSession,
    { permissions, text }: { permissions: Permissions; text?: string },
  ) {
    this.permissions = permissions;
    const dialog = createPickerDialog({
      name: NAME,
      title: `Permissions (mode ${opened.approval.mode})`,
      items: toItems(permissions),
      keys: [{ action: "list.delete", label: "revoke" }],
    });
    this.dialog = text === undefined ? dialog : withInput(dialog, text);
  }

  choose(id: string): void {
    const { context, opened, permissions } = this;
    const chosen = toItems(this.permissions).find((item) => item.id === id);
    if (id !== ADD_ID) note(context, chosen?.label ?? "");
    else context.open(new PermissionsPicker(context, opened, { permissions, text: "" }));
  }

  pressKey(_: ActionId, id: string | undefined): void {
    const { grant, rule } = this.find(id);
    if (rule && rule.userIndex === undefined)
      this.hint(`This rule is not from your own configuration; edit it in ${toSingleLine(rule.detail, 200)}`);
    else if (grant) this.ask(`Revoke this: ${grant.text}?`);
    else if (rule) this.ask(`Remove this rule of yours: ${describeRule(rule.rule)}?`);
  }

  async confirm(id: string | undefined): Promise<void> {
    const { grant, rule } = this.find(id);
    if (grant) note(this.context, await removeGrant(grant, this.opened));
    else if (rule) note(this.context, await removeRule(rule, this.opened));
    await this.renew();
  }

  /** An invalid rule stays in the input line. */
  async submit(text: string): Promise<void> {
    const read = readRule(text);
    if ("problem" in read) {
      this.change((dialog) => withInput(dialog, text));
      this.hint(read.problem);
      return;
    }
    note(this.context, await addRule(read.rule, this.opened));
    await this.renew();
  }

  private find(id: string | undefined): {
    grant?: Permissions["grants"][number] | undefined;
    rule?: ListedRule | undefined;
  } {
    const index = Number(id ?? Number.NaN);
    const { grants, rules } = this.permissions;
    return { grant: grants[index], rule: rules[index - grants.length] };
  }

  private async renew(): Promise<void> {
    this.permissions = await listPermissions(this.opened);
    this.change((dialog) => replaceItems(dialog, toItems(this.permissions)));
  }

  private change(change: (dialog: PickerDialog) => PickerDialog): void {
    this.context.change((view) => changePicker(view, NAME, change));
  }

  private hint(hint: string): void {
    this.context.change((view) => ({ ...view, hint }));
  }

  private ask(question: string): void {
    this.change((dialog) => ({ ...dialog, question }));
  }
}

function withInput(dialog: PickerDialog, text: string): PickerDialog {
  return { ...dialog, input: { label: INPUT_LABEL, text } };
}

/** In the order of their numbers, followed by the item that adds a rule. */
function toItems({ grants, rules }: Permissions): PickerItem[] {
  const kept = grants.map(({ text, scope }) => ({
    label: `allowed: ${text}`,
    detail: `for this ${scope}`,
  }));
  const listed = rules.map(({ rule, detail }, index) => ({
    label: `rule ${index + 1}: ${describeRule(rule)}`,
    detail,
  }));
  const items = [...kept, ...listed].map((item, index) => ({ id: String(index), ...item }));
  return [...items, { id: ADD_ID, label: "Add a rule…", detail: "to your own configuration" }];
}
