import { median, relativeSpread } from "./measure/statistics.ts";
import type { Stage } from "./stage/stage.ts";

/** `MB` of 1,048,576 bytes, `KB` of 1,024; `/s` is per second. */
type Unit = "ms" | "s" | "MB" | "KB" | "%" | "/s";

/**
 * How a figure becomes the number compared with the budget: a multiple of its reference, the cost of one of
 * `items` in addition to the reference, or the measured amount itself.
 */
type Rule = { kind: "ratio" } | { kind: "per_item"; items: number } | { kind: "amount" };

/** A measured quantity, with its reference from the same run. */
export interface Figure {
  name: string;
  unit: Unit;
  rule: Rule;
  /** One value per run, in `unit`. */
  measured: readonly number[];
  /** What it is compared with, or what is subtracted; its values alternate with those of `measured`. */
  reference?: { name: string; values: readonly number[] };
  /** The maximum of the compared number; a figure without one is for information. */
  budget?: number;
}

/** A figure as medians with its verdict; what `--json` prints. */
export interface Verdict {
  name: string;
  unit: Unit;
  measured: number;
  /** Half the interquartile range of `measured`, relative to its median: 0.05 is ±5 %. */
  spread: number;
  reference?: { name: string; value: number };
  rule: Rule["kind"];
  /** A multiple for `ratio`, otherwise an amount in `unit`. */
  result: number;
  budget?: number;
  isOver: boolean;
  runs: number;
}

/** @throws if the rule needs a reference and there is none, or nothing was measured. */
export function evaluateFigure({ name, unit, rule, measured, reference, budget }: Figure): Verdict {
  const value = median(measured);
  const against = reference && { name: reference.name, value: median(reference.values) };
  const result = applyRule(rule, value, against?.value);
  return {
    name,
    unit,
    measured: value,
    spread: relativeSpread(measured),
    ...(against && { reference: against }),
    rule: rule.kind,
    result,
    ...(budget !== undefined && { budget }),
    isOver: budget !== undefined && result > budget,
    runs: measured.length,
  };
}

function applyRule(rule: Rule, measured: number, reference: number | undefined): number {
  if (rule.kind === "amount") return measured;
  if (reference === undefined) throw new Error(`A figure of kind ${rule.kind} needs a reference.`);
  return rule.kind === "ratio" ? measured / reference : (measured - reference) / rule.items;
}

/** A question about speed or size that one or more figures answer. */
export interface Benchmark {
  /** Its name on the command line. */
  name: string;
  /** One line for `--help`. */
  about: string;
  measure(stage: Stage): Promise<Figure[]>;
}

const HEADINGS = ["name", "measured", "reference", "result", "budget", ""];

/** The verdicts as lines with aligned columns: the first to the left, numbers to the right. */
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

/** Three significant digits: more would be noise. */
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
