import type { CheckRecord } from "@diligent/core/run";
import { formatNumber } from "../tui/commands/types.ts";
import { formatCost } from "../tui/live-region.ts";
import { describeVariant, type WhatIfRun } from "./what-if.ts";

/** The heads of the table's columns. */
export const WHAT_IF_COLUMNS = [
  "variant",
  "run",
  "end",
  "checks",
  "turns",
  "tokens",
  "cost",
  "time",
  "diff",
] as const;

/** The cells of a run, one for each of `WHAT_IF_COLUMNS`. */
export function toWhatIfCells({
  variant,
  run,
  stopReason,
  checks,
  turns,
  usage,
  ...rest
}: WhatIfRun): string[] {
  const { cost, durationMs, diff } = rest;
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return [
    describeVariant(variant),
    String(run),
    stopReason,
    checks.length === 0 ? "none" : checks.map(formatCheck).join(", "),
    String(turns),
    `${formatNumber(input)} in, ${formatNumber(usage.outputTokens)} out`,
    cost === null ? "unknown" : formatCost(cost),
    `${(durationMs / 1000).toFixed(1)} s`,
    diff.files === 0 ? "none" : `+${diff.added} −${diff.removed} in ${diff.files}`,
  ];
}

/** The table, one line a run, columns aligned. */
export function formatWhatIf(runs: readonly WhatIfRun[]): string[] {
  const rows = [[...WHAT_IF_COLUMNS], ...runs.map(toWhatIfCells)];
  const widths = WHAT_IF_COLUMNS.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function formatCheck({ name, exitCode, failed = 0, isStale }: CheckRecord): string {
  if (failed > 0 || (exitCode !== 0 && exitCode !== null)) return `${name} ✗`;
  if (exitCode === null) return `${name} ?`;
  return isStale ? `${name} ✓ (stale)` : `${name} ✓`;
}
