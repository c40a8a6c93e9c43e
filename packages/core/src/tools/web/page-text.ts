import { findEncoding } from "../../infrastructure/text/legacy-encodings.ts";
import { removeInvisible } from "../../infrastructure/text/unicode.ts";
import { showAddress } from "./address.ts";
import { type Download, DownloadError } from "./download.ts";

/** The text of a page, for the model. */
export interface PageText {
  /** Empty if the page has none. */
  title: string;
  text: string;
  /** What is missing or special, as clauses. */
  remarks: string[];
}

// More than ten thousand tokens a page of the result; the rest is read page by page.
const MAX_TEXT_CHARACTERS = 4_000_000;
const PRETTY_JSON_CHARACTERS = 500_000;
// Enough to find out the kind and the encoding.
const HEAD_BYTES = 4_096;

/**
 * Converts an answer to text: HTML becomes Markdown, PDF numbered pages. Characters that only a terminal or a model
 * would see are removed.
 *
 * @throws DownloadError for anything that is no text
 */
export async function toPageText(download: Download, signal: AbortSignal): Promise<PageText> {
  const page = await convert(download, signal);
  const whole = page.text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed();
  const { text } = removeInvisible(whole.replace(/\r\n?/g, "\n"));
  const { text: title } = removeInvisible(page.title.replace(/\s+/g, " "));
  const remarks = download.isCut ? [...page.remarks, "only the first 5 MB were read"] : page.remarks;
  return { title, text, remarks };
}

async function convert(download: Download, signal: AbortSignal): Promise<PageText> {
  const { bytes, contentType, address } = download;
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, HEAD_BYTES));
  if (/^\s*%PDF-/.test(head)) return convertPdf(download, signal);
  const text = decode(download, head);
  if (text === undefined) {
    const type = contentType === "" ? "of an unknown type" : showAddress(contentType);
    throw new DownloadError(`${showAddress(address.url.href)} is no text (${type}, ${bytes.length} bytes).`);
  }
  const plain = { title: "", text, remarks: [] };
  if (isHtml(contentType, head)) {
    const { convertHtml } = await import("./convert-html.ts");
    const page = { html: text, url: address.url.href };
    const limits = { timeoutMs: download.leftMs, signal };
    const { title, markdown } = await convertHtml(page, limits).catch((error: unknown) => {
      throw new DownloadError(`${showAddress(address.url.href)} cannot be converted: ${describe(error)}.`);
    });
    return { title, text: markdown, remarks: markdown.trim() === "" ? ["the page has no text"] : [] };
  }
  return /\bjson\b/.test(contentType) ? { ...plain, text: formatJson(text) } : plain;
}

function isHtml(contentType: string, head: string): boolean {
  if (/\bx?html\b/.test(contentType)) return true;
  // What says that it is text of another kind is taken at its word.
  if (/^(?:text\/|application\/(?:json|xml))/.test(contentType)) return false;
  return /^\s*(?:<!--[^>]*-->\s*)*<(?:!doctype html|html)\b/i.test(head.replace(/^\u00ef\u00bb\u00bf/, ""));
}

async function convertPdf(
  { bytes, isCut, leftMs, address }: Download,
  signal: AbortSignal,
): Promise<PageText> {
  if (isCut) throw new DownloadError(`${showAddress(address.url.href)} is a PDF of more than 5 MB.`);
  const { readPdfText } = await import("../../infrastructure/text/pdf.ts");
  const limits = { timeoutMs: leftMs, maxCharacters: MAX_TEXT_CHARACTERS, signal };
  const { pages, pageCount, problem } = await readPdfText(bytes, limits).catch((error: unknown) => {
    throw new DownloadError(
      `${showAddress(address.url.href)} is a PDF that cannot be read: ${describe(error)}.`,
    );
  });
  const text = pages.map((page, index) => `## Page ${index + 1}\n\n${page || "(no text)"}`).join("\n\n");
  const isComplete = pages.length === pageCount;
  return {
    title: "",
    text,
    remarks: [
      isComplete
        ? `PDF, ${pageCount === 1 ? "1 page" : `${pageCount} pages`}`
        : `PDF, the first ${pages.length} of ${pageCount} pages`,
      ...(problem === undefined ? [] : [`the others are missing: ${problem}`]),
    ],
  };
}

function describe(error: unknown): string {
  return showAddress(error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}

/** JSON on one line is hard to read in pieces. */
function formatJson(text: string): string {
  if (text.length > PRETTY_JSON_CHARACTERS || text.trim().includes("\n")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // Not all that is called JSON is JSON.
  }
}

/** Undefined for binary data. */
function decode({ bytes, contentType }: Download, head: string): string | undefined {
  if (/^(?:image|audio|video|font)\/(?!svg)/.test(contentType)) return undefined;
  const name = findEncodingName(bytes, contentType, head);
  if (!/^utf-?(?:16|32)/i.test(name) && head.includes("\0")) return undefined;
  if (/^utf-?8$/i.test(name)) return new TextDecoder().decode(bytes);
  try {
    return findEncoding(name, bytes)?.decode(bytes).text ?? new TextDecoder().decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // The page names an encoding that it does not have.
  }
}

/** As browsers do: the mark at the beginning, then what the server says, then what the page says. */
function findEncodingName([first, second, third]: Uint8Array, contentType: string, head: string): string {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return "utf-16";
  const named =
    /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(contentType) ??
    /<meta\b[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(head) ??
    /^<\?xml\b[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})/i.exec(head);
  return named?.[1] ?? "utf-8";
}
