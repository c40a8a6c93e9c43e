import { readCheckedFile, readPromptImage } from "@diligent/core/interactive";
import { describeError } from "../../describe-error.ts";
import { type Attachment, createTextBlock, notAttached } from "./attachment.ts";
import type { MentionedPath } from "./mentioned-path.ts";

// Above this, two files crowd the question out of a small window, and the model can read on by itself.
const MAX_TEXT_BYTES = 30 * 1024;
// Larger images are not even looked into.
const MAX_IMAGE_BYTES = 50 * 1024 * 1024;

/** The content of a mentioned file: an image by its name and content, or UTF-8 text, cut at a line end. */
export async function attachFile({ shown, realPath }: MentionedPath): Promise<Attachment> {
  const mayBeImage = /\.(?:png|jpe?g|gif|webp)$/i.test(realPath);
  const reading = await readCheckedFile(realPath, mayBeImage ? MAX_IMAGE_BYTES : MAX_TEXT_BYTES + 1);
  if (reading.kind === "missing") return notAttached(shown, "it has just been removed");
  if (reading.kind === "unreadable") return notAttached(shown, reading.reason);
  const { content, size } = reading.file;
  if (mayBeImage && size > MAX_IMAGE_BYTES)
    return notAttached(shown, `it is larger than ${MAX_IMAGE_BYTES / 1024 / 1024} MB`);
  const image = mayBeImage ? await attachImage(shown, content) : undefined;
  return image ?? attachText(shown, content, size);
}

async function attachImage(shown: string, bytes: Uint8Array): Promise<Attachment | undefined> {
  try {
    const found = await readPromptImage(shown, bytes);
    if (!found) return undefined;
    return { blocks: [{ type: "text", text: found.description }, found.image], notes: [] };
  } catch (error) {
    return notAttached(shown, describeError(error));
  }
}

function attachText(shown: string, bytes: Uint8Array, size: number): Attachment {
  const isCut = size > MAX_TEXT_BYTES;
  const text = decodeText(bytes.subarray(0, MAX_TEXT_BYTES), isCut);
  if (text === undefined)
    return notAttached(shown, "it is neither UTF-8 text nor an image that can be shown");
  if (!isCut) return { blocks: [createTextBlock(`Attached file ${shown}:`, text)], notes: [] };
  const kept = text.slice(0, text.lastIndexOf("\n") + 1) || text;
  const amount = `the first ${toKilobytes(Buffer.byteLength(kept))} of ${toKilobytes(size)} KB`;
  return {
    blocks: [createTextBlock(`Attached file ${shown} (${amount}; the rest is left out):`, kept)],
    notes: [`${shown}: only ${amount} are attached`],
  };
}

/** Undefined for what is no UTF-8 text. A character that was cut off at the end is left out. */
function decodeText(bytes: Uint8Array, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined; // The failure is the answer.
  }
}

function toKilobytes(bytes: number): string {
  return (bytes / 1024).toLocaleString("en", { maximumFractionDigits: 1 });
}
