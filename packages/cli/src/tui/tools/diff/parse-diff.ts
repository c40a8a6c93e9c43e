/** A line of a unified diff. Numbers are 1-based; a removed line has the old text's, all others the new one's. */
export type DiffLine =
  | { type: "same" | "added" | "removed"; number: number; text: string }
  /** Where lines are left out between two hunks. */
  | { type: "gap" }
  /** What the diff itself says, such as that a last line has no end. */
  | { type: "note"; text: string };

/** The lines of a unified diff of one file. Lines that belong to no diff are left out. */
export function parseDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [oldNumber, newNumber] = [0, 0];
  let isInHunk = false;
  for (const line of diff.split("\n")) {
    const start = HUNK.exec(line);
    if (start) {
      if (isInHunk) lines.push({ type: "gap" });
      [oldNumber, newNumber] = [Number(start[1]), Number(start[2])];
      isInHunk = true;
    } else if (isInHunk) {
      const text = line.slice(1);
      if (line.startsWith("+")) lines.push({ type: "added", number: newNumber++, text });
      else if (line.startsWith("-")) lines.push({ type: "removed", number: oldNumber++, text });
      else if (line.startsWith("\\")) lines.push({ type: "note", text: text.trim() });
      else if (line.startsWith(" ")) {
        lines.push({ type: "same", number: newNumber++, text });
        oldNumber++;
      }
    }
  }
  return lines;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
