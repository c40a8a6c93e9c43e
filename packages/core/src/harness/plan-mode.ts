import type { ApprovalMode } from "../approval/types.ts";
import PLAN_SECTION from "./plan-mode.md" with { type: "text" };

/** The section of the system prompt for a session in plan mode. */
export function describePlanMode(): string {
  return PLAN_SECTION.trim();
}

/**
 * Notes for the model when the session has entered or left plan mode. The system prompt stays as it is, so that the
 * provider's cache is used.
 * @param initial the mode that the system prompt describes.
 */
export function createPlanNotes(initial: ApprovalMode, currentMode: () => ApprovalMode): () => string[] {
  let wasPlan = initial === "plan";
  return () => {
    const isPlan = currentMode() === "plan";
    if (isPlan === wasPlan) return [];
    wasPlan = isPlan;
    return [isPlan ? describePlanMode() : `Plan mode has ended: the approval mode is ${currentMode()}.`];
  };
}

/** True for an answer that ends with a plan, as the model was told to in plan mode. */
export function hasPlan(answer: string): boolean {
  return /^#{1,6}\s*(?:the\s+)?plan\b/im.test(answer);
}
