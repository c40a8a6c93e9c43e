// Behind backticks that begin a fence there are none in the same line.
const FENCE = /^ {0,3}(`{3,}(?!.*`)|~{3,})/;
const INNER_FENCE = /^\s*(`{3,}(?!.*`)|~{3,})/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]/;
/** What an item has to look like so that a list may begin with it, at the start and below a paragraph. */
const FIRST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]/;
const INTERRUPTING_ITEM = /^ {0,3}(?:[-*+]|1[.)])[ \t]/;
const PARAGRAPH = /^ {0,3}[\p{L}\p{N}*_`"'(]/u;

/**
 * In the open end of an answer the place in front of which nothing changes any more, whatever follows: behind a line of
 * code whose fence is still open, or in front of an item of a list. 0 where there is none; it is the beginning of a line.
 */
export function findStableEnd(markdown: string): number {
  const reader = new LineReader();
  let end = 0;
  for (let at = 0; ; ) {
    const lineEnd = markdown.indexOf("\n", at);
    // An item counts once something of it is there.
    const line = markdown.slice(at, lineEnd < 0 ? undefined : lineEnd);
    const stable = reader.read(line);
    if (stable === "before") end = at;
    if (lineEnd < 0) return end;
    at = lineEnd + 1;
    if (stable === "after") end = at;
  }
}

/** Knows which block the lines are in, as far as it matters. */
class LineReader {
  private block: "none" | "paragraph" | "code" | "list" | "other" = "none";
  /** Of the code that is open. */
  private fence = "";

  /** Whether what stands before this line, or this line too, is stable. */
  read(line: string): "before" | "after" | undefined {
    switch (this.block) {
      case "none":
      case "paragraph":
        return this.begin(line);
      case "code":
        return this.closes(line) ? undefined : "after";
      case "list":
        return this.readItem(line);
      case "other":
        return undefined;
    }
  }

  private begin(line: string): undefined {
    const fence = FENCE.exec(line)?.[1];
    const first = this.block === "paragraph" ? INTERRUPTING_ITEM : FIRST_ITEM;
    if (fence !== undefined) {
      this.fence = fence;
      this.block = "code";
    } else if (first.test(line)) this.block = "list";
    else if (line.trim() !== "") this.block = PARAGRAPH.test(line) ? "paragraph" : "other";
    else if (this.block === "paragraph") this.block = "other";
  }

  private closes(line: string): boolean {
    const isClosed = line.trim().startsWith(this.fence) && /^\s*([`~])\1+\s*$/.test(line);
    if (isClosed) this.block = "other";
    return isClosed;
  }

  private readItem(line: string): "before" | undefined {
    const fence = INNER_FENCE.exec(line)?.[1];
    if (this.fence === "" && fence !== undefined) this.fence = fence;
    else if (fence?.startsWith(this.fence)) this.fence = "";
    return this.fence === "" && ITEM.test(line) ? "before" : undefined;
  }
}
