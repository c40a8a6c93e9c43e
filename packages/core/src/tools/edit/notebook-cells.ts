import { applyEdits, type JSONPath, modify } from "jsonc-parser";
import { type Notebook, parseNotebook } from "../../infrastructure/text/notebook.ts";
import { replaceSource } from "./notebook-edit.ts";
import { type EditOutcome, type EditRequest, planEdit } from "./plan-edit.ts";

// Adding and deleting the cells of a notebook, by edits of the lines that head them.

/** A heading as `read` shows it, or one for a new cell, such as `--- cell (code) ---`. */
const HEADING = /^--- (?:new )?cell(?: \d+)? \((code|markdown|raw)\b[^)\n]*\) ---$/;
const ANY_HEADING = new RegExp(HEADING, "m");

// In place of the lines of outputs, which an edit cannot match.
const OUTPUT = "\u0002";

/** True for an edit that names a heading: it may add and delete cells. */
export function namesCells({ oldText, newText }: EditRequest): boolean {
  return ANY_HEADING.test(oldText) || ANY_HEADING.test(newText);
}

/** The headings and sources with the line numbers that `read` shows; undefined for text that is no notebook. */
export function toCellText(text: string): string | undefined {
  const notebook = parseNotebook(text);
  return notebook && showCells(notebook);
}

function showCells({ cells }: Notebook): string {
  const lines = cells.flatMap(({ heading, source, outputs }) => [
    heading,
    ...source,
    ...outputs.map(() => OUTPUT),
  ]);
  return lines.join("\n");
}

/** A cell after an edit: one of before by its index, or a new one of a type. */
type EditedCell = { source: string } & ({ index: number } | { type: string });

/**
 * Adds, deletes and changes cells; what remains of the notebook's JSON keeps its text. Outputs belong to their cell, and
 * a new cell has none. `shown` comes from `toCellText`, and the lines of the outcome are its lines.
 *
 * @throws Error for an edit after which the cells cannot be told apart
 */
export function planCellEdit(text: string, shown: string, request: EditRequest): EditOutcome {
  const notebook = parseNotebook(text);
  if (!notebook) return { kind: "missing" };
  const { cells } = notebook;
  if (cells.some(({ source }) => source.some((line) => HEADING.test(line) || line.includes(OUTPUT))))
    throw new Error("A source contains a line that looks like the heading of a cell; use bash to edit it.");
  const outcome = planEdit(shown, withLineEnd(shown, request));
  if (outcome.kind !== "edited") return outcome;
  // What was meant by another text is not clear enough to delete something.
  if (!outcome.isExact) return { kind: "missing" };
  const after = readCells(
    outcome.text,
    cells.map(({ heading }) => heading),
  );
  const edited = applyCells(text, { before: cells.map(({ source }) => source.join("\n")), after });
  const written = parseNotebook(edited)?.cells.map(({ source }) => source.join("\n"));
  if (written?.join("\0") !== after.map(({ source }) => source).join("\0"))
    throw new Error("The JSON of the notebook is not as Jupyter writes it; edit it as text with bash.");
  return { ...outcome, text: edited };
}

/** Deleting whole lines deletes their line end, too; otherwise an empty line would stay in the cell before. */
function withLineEnd(shown: string, request: EditRequest): EditRequest {
  const { oldText, newText } = request;
  if (newText !== "" || oldText.endsWith("\n") || oldText === shown) return request;
  return { ...request, oldText: shown.endsWith(`\n${oldText}`) ? `\n${oldText}` : `${oldText}\n` };
}

function readCells(shown: string, headings: readonly string[]): EditedCell[] {
  const found: { heading: string; lines: string[] }[] = [];
  for (const line of shown === "" ? [] : shown.split("\n")) {
    if (HEADING.test(line) || headings.includes(line)) found.push({ heading: line, lines: [] });
    else if (line !== OUTPUT) {
      if (line.includes(OUTPUT)) throw new Error("The edit contains a control character.");
      const cell = found.at(-1);
      if (!cell)
        throw new Error("The first cell has no heading any more; begin it with --- cell (code) ---.");
      cell.lines.push(line);
    }
  }
  let last = -1;
  return found.map(({ heading, lines }) => {
    const source = lines.join("\n");
    const index = headings.indexOf(heading, last + 1);
    if (index === -1) return { type: HEADING.exec(heading)?.[1] ?? "code", source };
    last = index;
    return { index, source };
  });
}

function applyCells(
  text: string,
  { before, after }: { before: readonly string[]; after: readonly EditedCell[] },
): string {
  const kept = new Map(
    after.flatMap((cell) => ("index" in cell ? [[cell.index, cell.source] as const] : [])),
  );
  let edited = text;
  // From the last cell on: what is before it keeps its position.
  for (let index = before.length - 1; index >= 0; index--) {
    const source = kept.get(index);
    if (source === undefined) edited = change(edited, ["cells", index], undefined);
    else if (source !== before[index]) edited = replaceSource(edited, index, source);
  }
  for (const [position, cell] of after.entries()) {
    if (!("type" in cell)) continue;
    edited = change(edited, ["cells", position], createCell(edited, cell));
  }
  return edited;
}

function change(text: string, path: JSONPath, value: unknown): string {
  const unit = /^\{\r?\n([ \t]+)/.exec(text)?.[1];
  const formattingOptions = {
    insertSpaces: unit !== "\t",
    tabSize: unit === "\t" ? 1 : (unit?.length ?? 1),
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
  return applyEdits(
    text,
    modify(text, path, value, {
      isArrayInsertion: value !== undefined,
      // A notebook on one line stays on one line.
      ...(unit !== undefined && { formattingOptions }),
    }),
  );
}

/** As Jupyter writes it; with an id where the notebook's format has them. */
function createCell(text: string, { type, source }: { type: string; source: string }): object {
  const notebook: unknown = JSON.parse(text);
  const minor =
    typeof notebook === "object" && notebook !== null && "nbformat_minor" in notebook
      ? notebook.nbformat_minor
      : 0;
  const hasIds = typeof minor === "number" && minor >= 5;
  const lines = source === "" ? [] : source.split(/(?<=\n)/);
  return {
    cell_type: type,
    ...(type === "code" && { execution_count: null }),
    ...(hasIds && { id: findFreeId(text, source) }),
    metadata: {},
    ...(type === "code" && { outputs: [] }),
    source: lines,
  };
}

/** The same for the same notebook, so that a preview shows what is written. */
function findFreeId(text: string, source: string): string {
  for (let attempt = 0; ; attempt++) {
    const id = Bun.SHA256.hash(`${attempt}\0${source}`, "hex").slice(0, 8);
    if (!text.includes(`"${id}"`)) return id;
  }
}
