import { inspectImage } from "../../infrastructure/text/images.ts";
import { type Notebook, parseNotebook } from "../../infrastructure/text/notebook.ts";
import type { ImageBlock } from "../../types.ts";
import { readImage } from "./read-image.ts";

/** A notebook for the model. */
export interface ReadableNotebook {
  text: string;
  note: string;
  images: ImageBlock[];
}

const MAX_IMAGES = 5;

/** The cells of a notebook with their outputs; undefined for text that is no notebook. */
export async function readNotebook(path: string, text: string): Promise<ReadableNotebook | undefined> {
  const notebook = parseNotebook(text);
  if (!notebook) return undefined;
  const lines = notebook.cells.flatMap(({ heading, source, outputs }) => [heading, ...source, ...outputs]);
  const images = await readImages(path, notebook);
  const cells = notebook.cells.length;
  const count = notebook.images.length;
  const notes = [
    `A notebook of ${cells === 1 ? "1 cell" : `${cells} cells`}; edit replaces text in the source of a cell`,
    ...(count > images.length ? [`${images.length} of ${count} images are shown`] : []),
  ];
  return { text: lines.join("\n"), note: `(${notes.join(". ")}.)`, images };
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
