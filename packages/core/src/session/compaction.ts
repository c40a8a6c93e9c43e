export {
  type CutPointResult,
  extractFileOperations,
  type FileBase,
  findCutPoint,
  formatFileOperations,
} from "./compaction/cut-point.ts";
export { shouldCompact } from "./compaction/request-meter.ts";
export { type GenerateSummaryOptions, generateSummary } from "./compaction/summarize.ts";
export { estimateTokens } from "./compaction/tokens.ts";
