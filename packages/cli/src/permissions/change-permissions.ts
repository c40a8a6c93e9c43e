import { isDeepStrictEqual } from "node:util";
import type { PermissionRule, ScopedGrant } from "@diligent/core/run";
import type { OpenSession } from "../open-session.ts";
import { describeKept, type ListedRule } from "./list-permissions.ts";
import { describeRule } from "./rule-text.ts";

type Changeable = Pick<OpenSession, "approval" | "grants" | "reloadRules" | "workspace">;

/**
 * Adds a rule to the user's file; it counts at once. Returns what came of it, a sentence or two.
 * @throws Error when the file is broken or cannot be written: it is as it was then.
 */
export async function addRule(rule: PermissionRule, opened: Changeable): Promise<string> {
  const { addUserRule } = await import("@diligent/core");
  const { path } = await addUserRule(opened.workspace.environment, rule);
  await opened.reloadRules();
  const isCounted = isDeepStrictEqual(opened.approval.rules.at(-1), rule);
  const effect = isCounted
    ? "It counts from now on."
    : "It does not count here: the rules of this project take the place of yours.";
  return `Added to ${path}: ${describeRule(rule)}. ${effect}${offerNote(rule)}`;
}

/**
 * Takes a rule out of the user's file; it counts no longer.
 * @throws Error when it is not the user's, or the file cannot be changed.
 */
export async function removeRule(
  { rule, detail, userIndex }: ListedRule,
  opened: Changeable,
): Promise<string> {
  if (userIndex === undefined)
    throw new Error(`This rule is not from your own file; it is changed in ${detail}.`);
  const { removeUserRule } = await import("@diligent/core");
  const { path } = await removeUserRule(opened.workspace.environment, userIndex, rule);
  await opened.reloadRules();
  return `Taken out of ${path}: ${describeRule(rule)}.${offerNote(rule)}`;
}

/** Asks again about what was allowed for good. @throws Error when the file cannot be changed. */
export async function removeGrant({ grant }: ScopedGrant, { grants }: Changeable): Promise<string> {
  await grants.remove(grant);
  return `Taken back: ${describeKept(grant)}. It is asked about again.`;
}

/** Which tools there are is said at the beginning of a conversation. */
function offerNote({ action, pattern }: PermissionRule): string {
  const isOutright = action === "deny" && /^\*+$/.test(pattern);
  return isOutright ? " Which tools the model is offered changes with /reload, or the next session." : "";
}
