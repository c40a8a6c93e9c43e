import { runIsolatedTask, serveIsolatedTask, TaskLimitError } from "../process/isolated-task.ts";

/** The text of a PDF document. */
export interface PdfText {
  /** In order, from the first that was wanted; empty for a page without text, such as a scanned one. */
  pages: string[];
  pageCount: number;
  /** Why pages at the end are missing, a clause; undefined if all that were wanted are there. */
  problem?: string;
}

/** What is read of a document. */
interface PdfOptions {
  /** From 1. */
  firstPage?: number | undefined;
  timeoutMs: number;
  /** After the page that exceeds it, no further page is read. */
  maxCharacters: number;
  signal?: AbortSignal | undefined;
}

/** No more pages than these are read at once. */
const MAX_PAGES = 1_000;
// The library with an ordinary document of 5 MB needs about 100 MB.
const MAX_MEMORY_BYTES = 400 * 1024 * 1024;

/**
 * Extracts the text of the pages of a document, on a thread of its own: a small document can expand to gigabytes. Pages
 * that were read before a limit was reached are returned.
 *
 * @throws Error for a document of which no page can be read, because it is damaged, needs a password or exceeds a
 *   limit; its message is a clause.
 */
export async function readPdfText(
  bytes: Uint8Array,
  { firstPage = 1, timeoutMs, maxCharacters, signal }: PdfOptions,
): Promise<PdfText> {
  const pages: string[] = [];
  let pageCount: number | undefined;
  const input: PdfTask = { bytes, firstPage, maxCharacters };
  try {
    await runIsolatedTask(import.meta.url, input, {
      limits: { timeoutMs, maxMemoryBytes: MAX_MEMORY_BYTES, signal },
      receive(result) {
        if (typeof result === "number") pageCount = result;
        else if (typeof result === "string") pages.push(result);
      },
    });
  } catch (error) {
    const isStopped = signal?.aborted === true;
    if (isStopped || pageCount === undefined || pages.length === 0) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const problem = error instanceof TaskLimitError ? reason : `the next page is damaged (${reason})`;
    return { pages, pageCount, problem };
  }
  return { pages, pageCount: pageCount ?? pages.length };
}

interface PdfTask {
  bytes: Uint8Array;
  firstPage: number;
  maxCharacters: number;
}

function isPdfTask(input: unknown): input is PdfTask {
  return typeof input === "object" && input !== null && "bytes" in input && "firstPage" in input;
}

/** The number of pages of the document, and then the text of each. */
async function* extractPages(input: unknown): AsyncGenerator<number | string> {
  if (!isPdfTask(input)) throw new Error("no document was given");
  const { bytes, firstPage, maxCharacters } = input;
  const { getDocument } = await import("unpdf/pdfjs");
  // Nothing besides the document is read: no fonts, no character maps, no code.
  const loading = getDocument({
    data: bytes,
    verbosity: 0,
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    enableXfa: false,
  });
  const document = await loading.promise;
  yield document.numPages;
  let characters = 0;
  const last = Math.min(document.numPages, firstPage + MAX_PAGES - 1);
  for (let number = firstPage; number <= last && characters <= maxCharacters; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = items
      .map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : ""))
      .join("")
      .trim();
    page.cleanup();
    characters += text.length;
    yield text;
  }
}

serveIsolatedTask(import.meta.url, extractPages);
