import { findNodeAtLocation, parseTree } from "jsonc-parser";
import { type Notebook, parseNotebook } from "../../infrastructure/text/notebook.ts";
import { type EditOutcome, type EditRequest, planEdit } from "./plan-edit.ts";

// In place of the lines of a notebook that belong to no source, so that an edit cannot match them.
const HEADING = "\u0001";
const OUTPUT = "\u0002";

/**
 * The sources of a notebook's cells, with the line numbers that `read` shows; undefined for text that is no notebook.
 * Other lines contain only a control character.
 */
export function toSourceText(text: string): string | undefined {
  const notebook = parseNotebook(text);
  return notebook && hideOutputs(notebook);
}

function hideOutputs({ cells }: Notebook): string | undefined {
  const lines = cells.flatMap(({ source, outputs }) => [HEADING, ...source, ...outputs.map(() => OUTPUT)]);
  const isClear = cells.every(({ source }) => !source.some(isHidden));
  return isClear ? lines.join("\n") : undefined;
}

function isHidden(line: string): boolean {
  return line.includes(HEADING) || line.includes(OUTPUT);
}

/**
 * Replaces a piece of the source of a cell; in the JSON of the notebook nothing else changes. `sources` comes from
 * `toSourceText`, and the lines of the outcome are its lines.
 *
 * @throws Error for a new text that would change where a cell ends
 */
export function planNotebookEdit(text: string, sources: string, request: EditRequest): EditOutcome {
  const outcome = planEdit(sources, request);
  if (outcome.kind !== "edited") return outcome;
  const [before, after] = [toCells(sources), toCells(outcome.text)];
  if (before.length !== after.length || isHidden(request.newText))
    throw new Error(
      "The edit reaches beyond the source of a cell; give text from within one cell, or headings to add and delete cells.",
    );
  let edited = text;
  // From the last cell on: what is before it keeps its position.
  for (let index = after.length - 1; index >= 0; index--) {
    const source = after[index];
    if (source !== undefined && source !== before[index]) edited = replaceSource(edited, index, source);
  }
  // JSON may name a member twice: readers take the last one, and the edit would have changed the first.
  const written = parseNotebook(edited)?.cells.map(({ source }) => source.join("\n"));
  if (written?.join("\0") !== after.join("\0"))
    throw new Error("The JSON of the notebook is not as Jupyter writes it; edit it as text with bash.");
  return { ...outcome, text: edited };
}

/** The text of `toSourceText` for a message. */
export function showSources(sources: string): string {
  return sources.replaceAll(HEADING, "(heading of a cell)").replaceAll(OUTPUT, "(output)");
}

/** The source of each cell. */
function toCells(sources: string): string[] {
  const cells: string[][] = [];
  for (const line of sources.split("\n")) {
    if (line === HEADING) cells.push([]);
    else if (line !== OUTPUT) cells.at(-1)?.push(line);
  }
  return cells.map((lines) => lines.join("\n"));
}

/** Gives a cell of the JSON of a notebook another source. @throws Error for one that has none. */
export function replaceSource(text: string, index: number, source: string): string {
  const tree = parseTree(text);
  const node = tree && findNodeAtLocation(tree, ["cells", index, "source"]);
  if (!node) throw new Error(`Cell ${index + 1} has no source.`);
  const end = node.offset + node.length;
  return (
    text.slice(0, node.offset) +
    formatSource(text, node.offset, { source, type: node.type }) +
    text.slice(end)
  );
}

/** As a list of lines, which is what Jupyter writes, unless the source was one string. */
function formatSource(
  text: string,
  offset: number,
  { source, type }: { source: string; type: string },
): string {
  if (type === "string") return JSON.stringify(source);
  if (source === "") return "[]";
  const lines = source.split(/(?<=\n)/).map((line) => JSON.stringify(line));
  const lineStart = text.lastIndexOf("\n", offset) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? "";
  // A notebook on one line stays on one line.
  if (lineStart === 0) return `[${lines.join(", ")}]`;
  const unit = /^\{\r?\n([ \t]+)/.exec(text)?.[1] ?? " ";
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  return `[${lineEnd}${lines.map((line) => indent + unit + line).join(`,${lineEnd}`)}${lineEnd}${indent}]`;
}
