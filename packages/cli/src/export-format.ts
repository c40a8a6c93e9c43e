/** The formats by the ending of their files. */
export const EXPORT_FORMATS = ["md", "jsonl"] as const;

/** How a conversation is written: for people, or as the lines of a session file. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The format that a file is called after, where it is. */
export function findFormat(file: string | undefined): ExportFormat | undefined {
  return EXPORT_FORMATS.find((format) => file?.toLowerCase().endsWith(`.${format}`));
}
