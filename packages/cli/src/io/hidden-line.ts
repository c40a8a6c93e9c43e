/** How a hidden line ended: Enter, Ctrl+C, or Ctrl+D or end of input. */
interface HiddenLineEnd {
  how: "enter" | "interrupt" | "end";
  text: string;
  /** The input after it. */
  rest: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys such as the arrows, and the frame of a paste.
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?/g;

/** A line typed while the terminal neither echoes nor edits: editing keys are handled here. */
export class HiddenLine {
  private typed = "";

  /** Feeds input; returns the line's end once it has arrived. */
  push(data: string): HiddenLineEnd | undefined {
    this.typed += data;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the keys that end the line.
    const end = /[\r\n\x03\x04]/.exec(this.typed);
    if (end === null) return undefined;
    const behind = this.typed.slice(end.index + 1);
    const rest = end[0] === "\r" && behind.startsWith("\n") ? behind.slice(1) : behind;
    const how = end[0] === "\x03" ? "interrupt" : end[0] === "\x04" ? "end" : "enter";
    return { how, text: applyEdits(this.typed.slice(0, end.index)), rest };
  }

  /** The line at the end of the input. */
  finish(): HiddenLineEnd {
    return { how: "end", text: applyEdits(this.typed), rest: "" };
  }
}

function applyEdits(typed: string): string {
  let text = "";
  for (const key of typed.replace(SEQUENCE, "")) {
    if (key === "\x7f" || key === "\b") text = [...text].slice(0, -1).join("");
    else if (key === "\x15") text = "";
    else if (key === "\x17") text = text.replace(/\S*\s*$/, "");
    else if (key >= " ") text += key;
  }
  return text;
}
