import {
  type BreakCost,
  type CostReport,
  describePrice,
  type RequestCost,
  sumCauses,
} from "@diligent/core/cost";
import { toSingleLine } from "../text/terminal-text.ts";
import { formatNumber, formatRows, widthOf } from "../tui/commands/types.ts";
import { formatCost } from "../tui/live-region.ts";

/** How a report is shown. */
export interface CostLayout {
  /** The width of the screen. */
  columns: number;
  /** False in line mode and where the output is not for people. */
  hasBars: boolean;
}

const MAX_CAUSES = 16;
const MAX_BREAKS = 12;
const MAX_NAME_COLUMNS = 40;
const BAR_COLUMNS = 24;
const BAR_FROM_COLUMNS = 60;

/** What a session has cost, by model and by cause, and where its cache broke. */
export function formatCostReport(report: CostReport, { columns, hasBars }: CostLayout): string[] {
  const { requests, breaks } = report;
  if (requests.length === 0) return ["No requests in this session yet."];
  const isWide = columns >= BAR_FROM_COLUMNS;
  return [
    ...formatModels(requests, columns),
    "",
    ...formatCauses(requests, { columns, hasBars: hasBars && isWide }),
    ...formatBreaks(breaks, columns),
    `  Total: ${formatTotal(report)}`,
    ...formatPrices(requests, columns),
  ];
}

/** The total, or what is known of it. */
export function formatTotal({ total, known }: Pick<CostReport, "total" | "known">): string {
  if (total !== null) return formatCost(total);
  return known > 0 ? `unknown; at least ${formatCost(known)}` : "unknown";
}

const HEADINGS = ["model", "requests", "from cache", "to cache", "fresh", "output", "cost"];

/** A table, or one list per model where it does not fit. */
function formatModels(requests: readonly RequestCost[], columns: number): string[] {
  const models = Map.groupBy(requests, toModelName);
  const rows = [...models].map(([name, own]) => toModelRow(name, own));
  const table = formatRows([HEADINGS, ...rows], { right: [1, 2, 3, 4, 5, 6] });
  if (widthOf(table) <= columns) return table.split("\n");
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [""]),
    ...formatRows(HEADINGS.map((heading, column) => [heading, row[column] ?? ""])).split("\n"),
  ]);
}

function toModelName({ model, purpose, agent }: RequestCost): string {
  const what = [agent, purpose].filter((part) => part !== undefined).join(", ");
  return toSingleLine(what === "" ? model : `${model} (${what})`, MAX_NAME_COLUMNS);
}

function toModelRow(name: string, requests: readonly RequestCost[]): string[] {
  const sum = (of: (request: RequestCost) => number) =>
    formatNumber(requests.reduce((total, request) => total + of(request), 0));
  const costs = requests.map(({ cost }) => cost);
  return [
    name,
    formatNumber(requests.length),
    sum(({ cached }) => cached),
    sum(({ written }) => written),
    sum(({ fresh }) => fresh),
    sum(({ output }) => output),
    formatTotal({
      total: costs.includes(null) ? null : costs.reduce<number>((total, cost) => total + (cost ?? 0), 0),
      known: 0,
    }),
  ];
}

function formatCauses(requests: readonly RequestCost[], { columns, hasBars }: CostLayout): string[] {
  const causes = sumCauses(requests);
  if (causes.length === 0) return ["  What the input consisted of was not kept for these requests.", ""];
  const total = causes.reduce((sum, [, tokens]) => sum + tokens, 0);
  const shown = causes.slice(0, MAX_CAUSES);
  const rest = causes.slice(MAX_CAUSES).reduce((sum, [, tokens]) => sum + tokens, 0);
  const rows: [string, number][] = [
    ...shown,
    ...(rest > 0 ? [["others", rest] satisfies [string, number]] : []),
  ];
  const largest = Math.max(1, ...rows.map(([, tokens]) => tokens));
  const table = formatRows(
    rows.map(([cause, tokens]) => [
      toSingleLine(cause, MAX_NAME_COLUMNS),
      formatNumber(tokens),
      `${Math.round((tokens / Math.max(1, total)) * 100)}%`,
      ...(hasBars ? [toBar(tokens / largest)] : []),
    ]),
    { right: [1, 2], columns },
  );
  return ["  Input tokens by cause:", "", ...table.split("\n"), ""];
}

/** A bar whose length is a share of the longest one. */
export function toBar(share: number): string {
  return "■".repeat(Math.max(share > 0 ? 1 : 0, Math.min(BAR_COLUMNS, Math.round(share * BAR_COLUMNS))));
}

function formatBreaks(breaks: readonly BreakCost[], columns: number): string[] {
  if (breaks.length === 0) return [];
  const rows = breaks
    .slice(-MAX_BREAKS)
    .map(({ entryId, why, where, detail, tokens, cost }) => [
      entryId,
      why,
      formatNumber(tokens),
      cost === null ? "unknown" : formatCost(cost),
      toSingleLine(detail === undefined ? where : `${where}: ${detail}`, MAX_DETAIL_COLUMNS),
    ]);
  const more = breaks.length - rows.length;
  const heading = ["entry", "why", "read again", "extra", "from"];
  return [
    `  Breaks of the cached beginning${more > 0 ? `, the last ${rows.length} of ${breaks.length}` : ""}:`,
    "",
    ...formatRows([heading, ...rows], { right: [2, 3], columns }).split("\n"),
    "",
  ];
}

const MAX_DETAIL_COLUMNS = 120;

/** Where each model's price comes from. */
function formatPrices(requests: readonly RequestCost[], columns: number): string[] {
  const sources = new Map<string, Set<string>>();
  for (const request of requests) {
    const source = describePrice(request);
    if (source === undefined) continue;
    sources.set(request.model, (sources.get(request.model) ?? new Set()).add(source));
  }
  const rows = [...sources].flatMap(([model, all]) =>
    [...all].map((source) => [toSingleLine(model, MAX_NAME_COLUMNS), source]),
  );
  const unknown = new Set(requests.flatMap(({ model, cost }) => (cost === null ? [model] : [])));
  return [
    ...(rows.length === 0 ? [] : ["", "  Prices:", ...formatRows(rows, { columns }).split("\n")]),
    ...(unknown.size === 0
      ? []
      : ["", "  The price of a model is unknown; models in your configuration can state it."]),
  ];
}
