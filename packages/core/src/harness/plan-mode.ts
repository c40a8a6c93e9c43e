import PLAN_SECTION from "./plan-mode.md" with { type: "text" };

/** The section of the system prompt for a session in plan mode. */
export function describePlanMode(): string {
  return PLAN_SECTION.trim();
}

/** True for an answer that ends with a plan, as the model was told to in plan mode. */
export function hasPlan(answer: string): boolean {
  return /^#{1,6}\s*(?:the\s+)?plan\b/im.test(answer);
}
