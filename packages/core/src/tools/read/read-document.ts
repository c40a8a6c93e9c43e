import { inspectImage } from "../../infrastructure/text/images.ts";
import { isNotebookName, type Notebook, parseNotebook } from "../../infrastructure/text/notebook.ts";
import { readPdfText } from "../../infrastructure/text/pdf.ts";
import { fileSignature } from "../../infrastructure/text/text-file.ts";
import type { ImageBlock } from "../../types.ts";
import { readImage } from "./read-image.ts";

/** A document as text for the model. */
export interface ReadableDocument {
  text: string;
  /** What it was, such as `The text of a PDF of 3 pages`. */
  description: string;
  images: ImageBlock[];
}

/** Larger ones need more memory than the limit of their conversion allows. */
export const MAX_PDF_BYTES = 50 * 1024 * 1024;
const MAX_PDF_CHARACTERS = 4_000_000;
const PDF_TIMEOUT_MS = 20_000;

/** True for the first bytes of a PDF. */
export function startsLikePdf(start: Uint8Array): boolean {
  return fileSignature(start) === "PDF document";
}

/** The text of the pages, each after a line with its number. @throws Error for one of which no page can be read */
export async function readPdf(
  path: string,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<ReadableDocument> {
  const limits = { timeoutMs: PDF_TIMEOUT_MS, maxCharacters: MAX_PDF_CHARACTERS, signal };
  const { pages, pageCount, problem } = await readPdfText(bytes, limits).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot read ${path} as a PDF: ${reason.replace(/\.$/, "")}.`);
  });
  const text = pages.map((page, index) => `--- page ${index + 1} ---\n${page || "(no text)"}`).join("\n\n");
  const isWhole = pages.length === pageCount;
  const missing = isWhole ? "" : `, of which ${pages.length} were read${problem ? `: ${problem}` : ""}`;
  const count = pageCount === 1 ? "1 page" : `${pageCount} pages`;
  return { text, description: `The text of a PDF of ${count}${missing}`, images: [] };
}

/** A PDF or a notebook for a prompt; undefined for any other file. @throws Error if it cannot be read */
export async function readPromptDocument(
  path: string,
  bytes: Uint8Array,
): Promise<ReadableDocument | undefined> {
  if (startsLikePdf(bytes)) return readPdf(path, bytes);
  return isNotebookName(path) ? readNotebook(path, new TextDecoder().decode(bytes)) : undefined;
}

const MAX_IMAGES = 5;

/** The cells of a notebook with their outputs; undefined for text that is no notebook. */
export async function readNotebook(path: string, text: string): Promise<ReadableDocument | undefined> {
  const notebook = parseNotebook(text);
  if (!notebook) return undefined;
  const lines = notebook.cells.flatMap(({ heading, source, outputs }) => [heading, ...source, ...outputs]);
  const images = await readImages(path, notebook);
  const cells = notebook.cells.length;
  const count = notebook.images.length;
  const shown = count > images.length ? `; ${images.length} of its ${count} images are shown` : "";
  const description = `A notebook of ${cells === 1 ? "1 cell" : `${cells} cells`}${shown}`;
  return { text: lines.join("\n"), description, images };
}

async function readImages(path: string, notebook: Notebook): Promise<ImageBlock[]> {
  const found: ImageBlock[] = [];
  for (const { data } of notebook.images.slice(0, MAX_IMAGES)) {
    const bytes = new Uint8Array(Buffer.from(data, "base64"));
    if (!inspectImage(bytes)) continue;
    // One that is damaged is left out: its place in the text shows that it exists.
    const result = await readImage(path, bytes).catch(() => undefined);
    found.push(...(result?.images ?? []));
  }
  return found;
}
