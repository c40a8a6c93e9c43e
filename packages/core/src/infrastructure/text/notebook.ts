/** A Jupyter notebook as text: each cell with a heading, its source and its outputs. */
export interface Notebook {
  cells: NotebookCell[];
  /** PNG, JPEG and GIF images of the outputs, as base64, in order; `[image 1]` in the text stands for the first. */
  images: NotebookImage[];
}

/** A cell; each text is a list of lines. */
export interface NotebookCell {
  heading: string;
  source: string[];
  outputs: string[];
}

/** An image in an output. */
interface NotebookImage {
  mediaType: string;
  data: string;
}

const MAX_OUTPUT_LINES = 100;
const MAX_OUTPUT_LINE_CHARACTERS = 2_000;

/** The name of a file that may be a notebook. */
export function isNotebookName(path: string): boolean {
  return /\.ipynb$/i.test(path);
}

/** Reads the JSON of a notebook; undefined for text that is none, or one from before format 4. */
export function parseNotebook(text: string): Notebook | undefined {
  const cells = asObject(parseJson(text)).cells;
  if (!Array.isArray(cells)) return undefined;
  const images: NotebookImage[] = [];
  const found = cells.map((cell: unknown, index) => toCell(asObject(cell), index + 1, images));
  return found.every((cell) => cell !== undefined) ? { cells: found, images } : undefined;
}

function toCell(
  { cell_type, source, outputs, execution_count, id }: JsonObject,
  number: number,
  images: NotebookImage[],
): NotebookCell | undefined {
  const text = joinText(source);
  if (typeof cell_type !== "string" || text === undefined) return undefined;
  const run = typeof execution_count === "number" ? [`run ${execution_count}`] : [];
  const name = typeof id === "string" && /^[\w-]{1,64}$/.test(id) ? [`id ${id}`] : [];
  return {
    heading: `--- cell ${number} (${[cell_type, ...name, ...run].join(", ")}) ---`,
    source: text === "" ? [] : text.split("\n"),
    outputs: Array.isArray(outputs) ? outputs.flatMap((output) => toOutput(asObject(output), images)) : [],
  };
}

function toOutput(output: JsonObject, images: NotebookImage[]): string[] {
  switch (output.output_type) {
    case "stream":
      return labelled(typeof output.name === "string" ? output.name : "output", joinText(output.text) ?? "");
    case "error": {
      const traceback = Array.isArray(output.traceback) ? output.traceback.join("\n") : "";
      return labelled("error", traceback || `${output.ename}: ${output.evalue}`);
    }
    case "execute_result":
    case "display_data":
      return toData(asObject(output.data), images);
    default:
      return [];
  }
}

function toData(data: JsonObject, images: NotebookImage[]): string[] {
  const lines: string[] = [];
  for (const mediaType of ["image/png", "image/jpeg", "image/gif"]) {
    const encoded = joinText(data[mediaType]);
    if (encoded === undefined) continue;
    images.push({ mediaType, data: encoded.replace(/\s/g, "") });
    lines.push(`[image ${images.length}]`);
  }
  const text = joinText(data["text/markdown"]) ?? joinText(data["text/plain"]) ?? joinText(data["text/html"]);
  // Beside an image, it only names the object.
  if (text !== undefined && lines.length === 0) lines.push(...shorten(text));
  return lines.length === 0 ? [] : ["--- result ---", ...lines];
}

function labelled(name: string, text: string): string[] {
  const lines = shorten(text);
  return lines.length === 0 ? [] : [`--- ${name} ---`, ...lines];
}

/** Without colours; the first and the last lines of a long output. */
function shorten(text: string): string[] {
  const lines = Bun.stripANSI(text)
    .replace(/\n$/, "")
    .split("\n")
    // A carriage return starts the line again, as a progress bar does.
    .map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1).replace(/\r+$/, ""))
    .map((line) =>
      line.length > MAX_OUTPUT_LINE_CHARACTERS
        ? `${line.slice(0, MAX_OUTPUT_LINE_CHARACTERS).toWellFormed()}…`
        : line,
    );
  if (text === "") return [];
  if (lines.length <= MAX_OUTPUT_LINES) return lines;
  const half = MAX_OUTPUT_LINES / 2;
  return [
    ...lines.slice(0, half),
    `[${lines.length - MAX_OUTPUT_LINES} lines left out]`,
    ...lines.slice(-half),
  ];
}

/** A string, or a list of strings that belong together. */
function joinText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || !value.every((part) => typeof part === "string")) return undefined;
  return value.join("");
}

type JsonObject = Record<string, unknown>;

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
