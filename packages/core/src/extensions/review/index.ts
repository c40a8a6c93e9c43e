/** What a review of changes needs: the changes, the prompts, and what the answers mean. */

export { type Changes, collectChanges, ReviewError, type ReviewTarget } from "./changes.ts";
export {
  type CheckedFindings,
  checkFindings,
  type Finding,
  findingsSchema,
  hasSeverity,
  readAnswer,
  SEVERITIES,
  type Severity,
} from "./findings.ts";
export { createReadLimit } from "./read-limit.ts";
export { CHANGE_REVIEWER, planReview } from "./reviewer.ts";
