/** Formats by file extension. */
export const EXPORT_FORMATS = ["md", "jsonl"] as const;

/** How a conversation is exported: for people, or as a session file. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The format implied by a file's extension, if any. */
export function findFormat(file: string | undefined): ExportFormat | undefined {
  return EXPORT_FORMATS.find((format) => file?.toLowerCase().endsWith(`.${format}`));
}
