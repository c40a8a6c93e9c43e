import type { UsageGroup, UsageRow } from "@diligent/core/cost";
import { toSingleLine } from "../text/terminal-text.ts";
import { formatNumber, formatRows } from "../tui/commands/types.ts";
import { formatCost } from "../tui/live-region.ts";
import { toBar } from "./format-cost.ts";

const MAX_NAME_COLUMNS = 44;

/** A table with a bar for each row: of its cost, or of its tokens where no cost is known. */
export function formatUsage(
  rows: readonly UsageRow[],
  { by, columns }: { by: UsageGroup; columns: number },
): string[] {
  if (rows.length === 0) return ["No requests found."];
  const amounts = toAmounts(rows);
  const most = Math.max(...amounts, Number.MIN_VALUE);
  const heading = [by, "sessions", "requests", "input", "output", "cost", ""];
  const table = rows.map((row, index) => [
    toSingleLine(row.key, MAX_NAME_COLUMNS),
    formatNumber(row.sessions),
    formatNumber(row.requests),
    formatNumber(countInput(row)),
    formatNumber(row.tokens.output),
    row.cost === null ? "unknown" : formatCost(row.cost),
    toBar((amounts[index] ?? 0) / most),
  ]);
  const total = rows.reduce<number | null>(
    (sum, { cost }) => (sum === null || cost === null ? null : sum + cost),
    0,
  );
  return [
    ...formatRows([heading, ...table], { right: [1, 2, 3, 4, 5], columns }).split("\n"),
    "",
    `  Total: ${total === null ? "unknown, since a price is unknown" : formatCost(total)}${by === "tool" ? " for the input of tools" : ""}`,
  ];
}

/** What is compared: costs, or tokens if a cost is unknown. */
export function toAmounts(rows: readonly UsageRow[]): number[] {
  const hasCosts = rows.every(({ cost }) => cost !== null) && rows.some(({ cost }) => (cost ?? 0) > 0);
  return rows.map((row) => (hasCosts ? (row.cost ?? 0) : countInput(row) + row.tokens.output));
}

/** The tokens of the input, cached ones included. */
export function countInput({ tokens: { input, cacheRead, cacheWrite } }: UsageRow): number {
  return input + cacheRead + cacheWrite;
}
