import { visibleWidth } from "../screen/screen-text.ts";
import { firstLines } from "../text/cut-lines.ts";
import { formatCount } from "../text/format-amount.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolContext } from "./tool-look.ts";

const MAX_HITS = 5;
const BETWEEN_NAMES = "  ";

/** How much a search found: `12 files`, `nothing found`. */
export function summarizeFound(call: SafeCall, noun: string, plural?: string): string | undefined {
  const count = call.metadataNumber("count");
  if (call.state !== "done" || count === undefined) return undefined;
  return count === 0 ? "nothing found" : formatCount(count, noun, plural);
}

/** The first things that a search found, and how many more there are. */
export function listFound(call: SafeCall, { theme }: ToolContext): string[] {
  const { count, hits } = readFound(call);
  const { shown } = firstLines(hits, MAX_HITS);
  return [...shown, ...describeMore(count - shown.length)].map(theme.dim);
}

/** The first names that a search found, on one row, and how many more there are. */
export function listNames(call: SafeCall, { width, theme }: ToolContext): string[] {
  const { count, hits } = readFound(call);
  const row = (names: readonly string[]) =>
    [...names, ...describeMore(count - names.length)].join(BETWEEN_NAMES);
  // No more than could be shown are measured.
  let names = hits.slice(0, width);
  while (names.length > 1 && visibleWidth(row(names)) > width) names = names.slice(0, -1);
  return names.length === 0 ? [] : [theme.dim(row(names))];
}

function readFound(call: SafeCall): { count: number; hits: string[] } {
  const count = call.metadataNumber("count") ?? 0;
  if (count === 0) return { count, hits: [] };
  const lines = call.output.trimEnd().split("\n");
  // Notes of the tool, such as that more was found than is shown, end its output.
  const hits = lines.slice(0, lines.findLastIndex((line) => !/^\[.*\]$/.test(line)) + 1);
  return { count, hits: hits.filter((line) => line !== "") };
}

function describeMore(count: number): string[] {
  return count > 0 ? [`… ${count.toLocaleString("en")} more`] : [];
}

/** `pattern in src in *.ts`. */
export function describeSearch(call: SafeCall): string {
  const type = call.text("type");
  const places = [call.text("path"), call.text("glob"), type && `${type} files`];
  return [call.text("pattern") ?? "?", ...places.flatMap((place) => (place ? [`in ${place}`] : []))].join(
    " ",
  );
}
