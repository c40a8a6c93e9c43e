import { Readable } from "node:stream";
import { createDeflate, deflateSync } from "node:zlib";

/** A document with one line of text on each page. */
export function createPdf(pages: readonly string[]): Uint8Array<ArrayBuffer> {
  return createPdfOfContents(pages.map((text) => Buffer.from(`BT /F1 12 Tf 72 720 Td (${text}) Tj ET`)));
}

/** A document whose last page shows a text of so many bytes, which takes a thousandth of that in the file. */
export async function createPdfBomb(
  bytes: number,
  before: readonly string[] = [],
): Promise<Uint8Array<ArrayBuffer>> {
  const first = before.map((text) => deflateSync(`BT /F1 12 Tf 72 720 Td (${text}) Tj ET`));
  const bomb = await Array.fromAsync(Readable.from(toBomb(bytes)).pipe(createDeflate()));
  return createPdfOfContents([...first, Buffer.concat(bomb)], { isCompressed: true });
}

function* toBomb(bytes: number): Generator<Buffer> {
  // In pieces, so that the test itself needs no memory for it.
  const piece = Buffer.alloc(1_000_000, "x");
  yield Buffer.from("BT /F1 12 Tf (");
  for (let count = 0; count < bytes; count += piece.length) yield piece;
  yield Buffer.from(") Tj ET");
}

/**
 * @param isCompressed true if the contents are compressed.
 * @param claimedPages the number of pages that the document says it has.
 */
export function createPdfOfContents(
  contents: readonly Buffer[],
  {
    isCompressed = false,
    claimedPages = contents.length,
  }: { isCompressed?: boolean; claimedPages?: number } = {},
): Uint8Array<ArrayBuffer> {
  const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
  const kids = contents.map((_, index) => `${3 + index * 2} 0 R`).join(" ");
  const objects = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(`<< /Type /Pages /Kids [${kids}] /Count ${claimedPages} >>`),
    ...contents.flatMap((content, index) => {
      const filter = isCompressed ? " /Filter /FlateDecode" : "";
      return [
        Buffer.from(
          `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${4 + index * 2} 0 R /Resources << /Font << /F1 ${font} >> >> >>`,
        ),
        Buffer.concat([
          Buffer.from(`<< /Length ${content.length}${filter} >>\nstream\n`),
          content,
          Buffer.from("\nendstream"),
        ]),
      ];
    }),
  ];
  const pieces = [Buffer.from("%PDF-1.4\n")];
  let length = pieces[0]?.length ?? 0;
  const offsets = objects.map((object, index) => {
    const offset = length;
    const piece = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    pieces.push(piece);
    length += piece.length;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF`;
  pieces.push(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`));
  return new Uint8Array(Buffer.concat(pieces));
}
