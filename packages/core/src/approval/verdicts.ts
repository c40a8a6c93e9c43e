import type { ApprovalGate, ApprovalVerdict } from "./types.ts";

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

/** The first of the strictest; undefined for none. */
export function strictest(verdicts: readonly ApprovalVerdict[]): ApprovalVerdict | undefined {
  return verdicts.reduce<ApprovalVerdict | undefined>(
    (worst, verdict) => (worst && STRICTNESS[worst.action] >= STRICTNESS[verdict.action] ? worst : verdict),
    undefined,
  );
}
