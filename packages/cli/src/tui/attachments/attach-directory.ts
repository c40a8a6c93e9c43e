import { opendir } from "node:fs/promises";
import { systemErrorText } from "@diligent/core/interactive";
import { type Attachment, createTextBlock, notAttached } from "./attachment.ts";
import type { MentionedPath } from "./mentioned-path.ts";

const MAX_ENTRIES = 200;

/** The names in a mentioned directory, hidden ones too, directories with a slash; in a very large one any of them. */
export async function attachDirectory({ shown, realPath }: MentionedPath): Promise<Attachment> {
  try {
    const { names, isCut } = await listNames(realPath);
    const heading = `Attached listing of the directory ${shown}`;
    if (names.length === 0)
      return { blocks: [{ type: "text", text: `${heading}: it is empty.` }], notes: [] };
    const amount = isCut ? ` (${MAX_ENTRIES} names; there are more)` : "";
    return {
      blocks: [createTextBlock(`${heading}${amount}:`, names.join("\n"))],
      notes: isCut ? [`${shown}: only ${MAX_ENTRIES} names are attached`] : [],
    };
  } catch (error) {
    return notAttached(shown, systemErrorText(error));
  }
}

async function listNames(directory: string): Promise<{ names: string[]; isCut: boolean }> {
  const names: string[] = [];
  for await (const entry of await opendir(directory)) {
    if (names.length === MAX_ENTRIES) return { names: names.sort(), isCut: true };
    // A line break in a name would make one entry look like two.
    const name = /\p{Cc}/u.test(entry.name) ? JSON.stringify(entry.name) : entry.name;
    names.push(entry.isDirectory() ? `${name}/` : name);
  }
  return { names: names.sort(), isCut: false };
}
