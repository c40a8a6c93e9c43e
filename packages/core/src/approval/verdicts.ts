import type { ApprovalGate, ApprovalVerdict, PermissionRule } from "./types.ts";

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

export function allow(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "allow", gate, reason };
}

export function ask(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "ask", gate, reason };
}

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
