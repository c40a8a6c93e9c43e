import type { Token, Tokens } from "marked";
import { layoutBlocks } from "./layout-blocks.ts";
import { indentedBy, type MarkdownLayout } from "./markdown-layout.ts";

/** A list, its items marked and indented; numbers go on from the first, as Markdown counts. */
export function layoutList(list: Tokens.List, layout: MarkdownLayout): string[] {
  const markers = list.items.map((item, index) => markerOf(list, item, index));
  const columns = Math.max(...markers.map(({ length }) => length));
  return list.items.flatMap((item, index) => {
    const marker = markers[index]?.padStart(columns) ?? "";
    const lines = layoutItem(item, layout, { marker, isLoose: list.loose });
    return index > 0 && list.loose ? ["", ...lines] : lines;
  });
}

function markerOf({ ordered, start }: Tokens.List, item: Tokens.ListItem, index: number): string {
  const marker = ordered ? `${Number(start) + index}. ` : "- ";
  return item.task ? `${marker}[${item.checked ? "x" : " "}] ` : marker;
}

function layoutItem(
  { tokens }: Tokens.ListItem,
  layout: MarkdownLayout,
  { marker, isLoose }: { marker: string; isLoose: boolean },
): string[] {
  const content = tokens.filter(({ type }) => type !== "checkbox");
  const inner = indentedBy(layout, marker.length);
  const lines = layoutContent(content, inner ?? layout, isLoose);
  const shownMarker = marker.trimEnd();
  if (!inner) return [shownMarker, ...lines];
  const indent = " ".repeat(marker.length);
  const [first = "", ...others] = lines;
  // Spaces of the marker that stand in front of it are kept, those behind it only where something follows.
  const head = first === "" ? shownMarker : shownMarker + marker.slice(marker.trimEnd().length) + first;
  return [head, ...others.map((line) => (line === "" ? "" : indent + line))];
}

function layoutContent(tokens: readonly Token[], layout: MarkdownLayout, isLoose: boolean): string[] {
  return layoutBlocks(tokens, layout, isLoose ? "loose" : "tight");
}
