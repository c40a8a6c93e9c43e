import { visibleWidth } from "../screen/screen-text.ts";

const TAB_STOP = 4;

/** The text with spaces for its tabs, up to the next multiple of four columns, so that columns stay in line. */
export function expandTabs(text: string): string {
  if (!text.includes("\t")) return text;
  return text.split("\n").map(expandLine).join("\n");
}

function expandLine(line: string): string {
  const [first = "", ...others] = line.split("\t");
  let column = visibleWidth(first);
  let expanded = first;
  for (const part of others) {
    const spaces = TAB_STOP - (column % TAB_STOP);
    expanded += " ".repeat(spaces) + part;
    column += spaces + visibleWidth(part);
  }
  return expanded;
}
