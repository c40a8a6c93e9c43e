import { firstLines, moreLines } from "../text/cut-lines.ts";
import type { ToolLook } from "./tool-look.ts";

const MAX_LINES = 5;
// The arguments by which a person would name a call, the most telling first.
const TELLING = ["command", "file_path", "path", "pattern", "query", "url", "name", "content"];

/** Any other tool: its most telling argument, or all of them, and the first lines of what it gave. */
export const generic: ToolLook = {
  title(call) {
    const telling = TELLING.map((name) => call.text(name)).find((text) => text !== undefined && text !== "");
    const input = telling ?? call.inputText();
    return input === "{}" ? "" : input;
  },
  answer(call, { theme }) {
    const output = call.output.trim();
    if (output === "") return [];
    const { shown, hidden } = firstLines(output.split("\n"), MAX_LINES);
    return [...shown, ...moreLines(hidden)].map(theme.dim);
  },
};
