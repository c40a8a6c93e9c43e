const SIGNATURES: readonly { kind: string; bytes: string; offset?: number }[] = [
  { kind: "PDF document", bytes: "%PDF-" },
  { kind: "PNG image", bytes: "\x89PNG\r\n\x1a\n" },
  { kind: "JPEG image", bytes: "\xff\xd8\xff" },
  { kind: "GIF image", bytes: "GIF8" },
  { kind: "WebP image", bytes: "WEBP", offset: 8 },
  { kind: "BMP image", bytes: "BM" },
  { kind: "TIFF image", bytes: "II*\0" },
  { kind: "TIFF image", bytes: "MM\0*" },
  { kind: "HEIC or AVIF image, or MP4 video", bytes: "ftyp", offset: 4 },
  { kind: "WAV audio", bytes: "WAVE", offset: 8 },
  { kind: "MP3 audio", bytes: "ID3" },
  { kind: "Ogg audio or video", bytes: "OggS" },
  { kind: "ZIP archive (or a format built on it, such as docx, jar, apk)", bytes: "PK\x03\x04" },
  { kind: "gzip archive", bytes: "\x1f\x8b" },
  { kind: "bzip2 archive", bytes: "BZh" },
  { kind: "xz archive", bytes: "\xfd7zXZ\0" },
  { kind: "Zstandard archive", bytes: "\x28\xb5\x2f\xfd" },
  { kind: "7-Zip archive", bytes: "7z\xbc\xaf\x27\x1c" },
  { kind: "tar archive", bytes: "ustar", offset: 257 },
  { kind: "ELF program or library", bytes: "\x7fELF" },
  { kind: "Mach-O program or library", bytes: "\xcf\xfa\xed\xfe" },
  { kind: "Java class file", bytes: "\xca\xfe\xba\xbe" },
  { kind: "Windows program", bytes: "MZ" },
  { kind: "WebAssembly module", bytes: "\0asm" },
  { kind: "SQLite database", bytes: "SQLite format 3\0" },
  { kind: "WOFF font", bytes: "wOF" },
];

const IMAGES: readonly string[] = ["PNG image", "JPEG image", "GIF image", "WebP image"];

/** What a binary file is by its first bytes, such as `PDF document`; undefined for one that is not known. */
export function fileSignature(start: Uint8Array): string | undefined {
  const text = Buffer.from(start.subarray(0, 512)).toString("latin1");
  return SIGNATURES.find(({ bytes, offset = 0 }) => text.startsWith(bytes, offset))?.kind;
}

/** True for the beginnings of the image formats that models can see. */
export function startsLikeImage(start: Uint8Array): boolean {
  const kind = fileSignature(start);
  return kind !== undefined && IMAGES.includes(kind);
}
