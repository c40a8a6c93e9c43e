import { visibleWidth, wrapText } from "../screen/screen-text.ts";
import { firstLines, moreLines } from "../text/cut-lines.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolLook } from "./tool-look.ts";

const MAX_ROWS = 6;

/** `add_knowledge pattern: Tests run with bun test · saved`. What is longer stands below, since it will be believed later. */
export const addKnowledge: ToolLook = {
  title: (call, { titleColumns }) => (isShort(call, titleColumns) ? shortTitle(call) : typeOf(call)),
  question(call, { width, theme, titleColumns }) {
    if (isShort(call, titleColumns)) return [];
    const { shown, hidden } = firstLines(wrapText(contentOf(call), width), MAX_ROWS);
    return [...shown, ...moreLines(hidden).map(theme.dim)];
  },
  summary(call) {
    if (call.state !== "done") return undefined;
    return call.metadataText("knownAs") === undefined ? "saved" : "known already";
  },
};

function typeOf(call: SafeCall): string {
  return call.text("type") ?? "?";
}

function contentOf(call: SafeCall): string {
  return (call.text("content") ?? "?").replace(/\s+/g, " ").trim();
}

function shortTitle(call: SafeCall): string {
  return `${typeOf(call)}: ${contentOf(call)}`;
}

function isShort(call: SafeCall, columns: number): boolean {
  return visibleWidth(shortTitle(call)) <= columns;
}
