import type { OpenSession } from "../open-session.ts";
import { addRule, removeGrant, removeRule } from "./change-permissions.ts";
import { formatPermissions, listPermissions } from "./list-permissions.ts";
import { RULE_SYNTAX, readRule } from "./rule-text.ts";

const USAGE = `/permissions ${RULE_SYNTAX} adds a rule to your own file; /permissions remove NUMBER takes one back.`;

/**
 * What `/permissions` says and does by lines: it lists, adds the rule that `argument` is, or removes a number of the list.
 * @throws Error when it cannot be done: nothing has changed then.
 */
export async function runPermissionsLine(argument: string, opened: OpenSession): Promise<string[]> {
  if (argument === "") return describeAll(opened);
  const [, number] = /^remove\s+(\d{1,6})$/.exec(argument) ?? [];
  if (number !== undefined) return [await removeNumber(Number(number), opened)];
  const read = readRule(argument);
  return "problem" in read ? [`${read.problem}.`, USAGE] : [await addRule(read.rule, opened)];
}

async function describeAll(opened: OpenSession): Promise<string[]> {
  const permissions = await listPermissions(opened);
  const lines = formatPermissions(permissions);
  const nothing = "  Nothing was allowed for good, and there are no rules.";
  return [
    ...permissions.problems,
    `The approval mode is ${opened.approval.mode}. ${opened.sandbox.text}`,
    ...(lines.length === 0 ? [nothing] : lines),
    USAGE,
  ];
}

async function removeNumber(number: number, opened: OpenSession): Promise<string> {
  const { grants, rules } = await listPermissions(opened);
  const grant = grants[number - 1];
  if (grant) return removeGrant(grant, opened);
  const rule = rules[number - 1 - grants.length];
  if (rule) return removeRule(rule, opened);
  throw new Error(`There is no number ${number} in the list of /permissions.`);
}
