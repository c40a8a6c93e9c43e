import { firstLines } from "../text/cut-lines.ts";
import { formatCount } from "../text/format-amount.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolContext } from "./tool-look.ts";

const MAX_HITS = 5;

/** How much a search found: `12 files`, `nothing found`. */
export function summarizeFound(call: SafeCall, noun: string, plural?: string): string | undefined {
  const count = call.metadataNumber("count");
  if (call.state !== "done" || count === undefined) return undefined;
  return count === 0 ? "nothing found" : formatCount(count, noun, plural);
}

/** The first things that a search found, and how many more there are. */
export function listFound(call: SafeCall, { theme }: ToolContext): string[] {
  const count = call.metadataNumber("count") ?? 0;
  if (count === 0) return [];
  const lines = call.output.trimEnd().split("\n");
  // Notes of the tool, such as that more was found than is shown, end its output.
  const hits = lines.slice(0, lines.findLastIndex((line) => !/^\[.*\]$/.test(line)) + 1);
  const { shown } = firstLines(hits, MAX_HITS);
  const more = count - shown.length;
  return [...shown, ...(more > 0 ? [`… ${more.toLocaleString("en")} more`] : [])].map(theme.dim);
}

/** `pattern in src in *.ts`. */
export function describeSearch(call: SafeCall): string {
  const type = call.text("type");
  const places = [call.text("path"), call.text("glob"), type && `${type} files`];
  return [call.text("pattern") ?? "?", ...places.flatMap((place) => (place ? [`in ${place}`] : []))].join(
    " ",
  );
}
