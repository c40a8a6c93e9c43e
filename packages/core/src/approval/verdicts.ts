import type { ApprovalGate, ApprovalVerdict, PermissionRule } from "./types.ts";

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** Needs nobody. In all three, `reason` is a clause for people, without capital and full stop. */
export function allow(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "allow", gate, reason };
}

/** Left to the mode: `ask` and `plan` put it to a person, `auto` lets it run, `deny` refuses it. */
export function ask(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "ask", gate, reason };
}

/** Refused without a question: neither a mode nor a grant changes that any more. */
export function deny(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "deny", gate, reason };
}

/** The verdict of a rule that matched. */
export function verdictOf({ permission, pattern, action }: PermissionRule): ApprovalVerdict {
  const rule = `the rule ${action} ${permission} ${JSON.stringify(pattern)}`;
  if (action === "allow") return allow("rule", `${rule} allows it`);
  return action === "deny" ? deny("rule", `${rule} forbids it`) : ask("rule", `${rule} wants it asked`);
}

/** The first of the strictest; undefined for none. */
export function strictest(verdicts: readonly ApprovalVerdict[]): ApprovalVerdict | undefined {
  return verdicts.reduce<ApprovalVerdict | undefined>(
    (worst, verdict) => (worst && STRICTNESS[worst.action] >= STRICTNESS[verdict.action] ? worst : verdict),
    undefined,
  );
}
