import type { Unit, Verdict } from "./figure.ts";

const HEADINGS = ["name", "measured", "reference", "result", "budget", ""];

/** The verdicts as lines of aligned columns: the first to the left, numbers to the right. */
export function formatTable(verdicts: readonly Verdict[]): string {
  const rows = [HEADINGS, ...verdicts.map(toCells)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => formatRow(row, widths)).join("\n");
}

function toCells(verdict: Verdict): string[] {
  const { name, unit, measured, spread, reference, budget, isOver } = verdict;
  const word = isOver ? "over" : "ok";
  return [
    name,
    `${formatAmount(measured, unit)} ±${Math.round(spread * 100)} %`,
    reference ? `${formatAmount(reference.value, unit)} (${reference.name})` : "",
    formatResult(verdict, verdict.result),
    budget === undefined ? "" : `≤ ${formatResult(verdict, budget)}`,
    budget === undefined ? "" : word,
  ];
}

function formatResult({ rule, unit }: Verdict, value: number): string {
  return rule === "ratio" ? `${formatNumber(value)}x` : formatAmount(value, unit);
}

function formatAmount(value: number, unit: Unit): string {
  return `${formatNumber(value)} ${unit}`;
}

/** Three digits that count: more would be noise. */
function formatNumber(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function formatRow(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 || column === cells.length - 1 ? cell.padEnd(width) : cell.padStart(width);
    })
    .join("  ")
    .trimEnd();
}
