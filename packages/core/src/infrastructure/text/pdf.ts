import { getDocumentProxy } from "unpdf";
import { monotonicMs } from "../runtime.ts";

/** The text of a PDF document. */
interface PdfText {
  /** In order; empty for a page without text, such as a scanned one. */
  pages: string[];
  pageCount: number;
}

/** True for the bytes of a PDF document. */
export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 1024)).includes("%PDF-");
}

/**
 * Extracts the text of each page until `limitMs` has passed or `maxCharacters` are read: then `pages` has fewer pages
 * than the document.
 *
 * @throws Error for a document that is damaged or needs a password
 */
export async function readPdfText(
  bytes: Uint8Array,
  { limitMs, maxCharacters }: { limitMs: number; maxCharacters: number },
): Promise<PdfText> {
  const endAt = monotonicMs() + limitMs;
  // The library takes over the memory of what it is given.
  const document = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 });
  try {
    const pages: string[] = [];
    let characters = 0;
    for (let number = 1; number <= document.numPages; number++) {
      if (monotonicMs() > endAt || characters > maxCharacters) break;
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      const text = items
        .map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : ""))
        .join("")
        .trim();
      page.cleanup();
      characters += text.length;
      pages.push(text);
    }
    return { pages, pageCount: document.numPages };
  } finally {
    await document.loadingTask.destroy();
  }
}
