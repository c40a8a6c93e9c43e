/** What sessions have cost, for the commands that show it. */
export {
  type BreakCost,
  type CostReport,
  type CountedSession,
  type FindPrice,
  listRequests,
  type RequestCost,
  reportCost,
  sumCauses,
} from "./cost-report.ts";
export { describePrice } from "./price-source.ts";
export { readChildren, readWithChildren } from "./read-sessions.ts";
export { USAGE_GROUPS, type UsageGroup, UsageReport, type UsageRow } from "./usage-report.ts";
