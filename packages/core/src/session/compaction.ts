export { estimateTokens } from "./compaction/estimate-tokens.ts";
export { extractFileOperations, formatFileOperations } from "./compaction/file-operations.ts";
export { type CutPointResult, findCutPoint } from "./compaction/find-cut-point.ts";
export { type GenerateSummaryOptions, generateSummary } from "./compaction/generate-summary.ts";
export { shouldCompact } from "./compaction/should-compact.ts";
