/** The formats, with the extension of their files. */
const EXTENSIONS = { md: "md", html: "html", jsonl: "jsonl", atif: "atif.json" } as const;

/** How a conversation is exported: for people (Markdown or a page), as a session file, or as a trajectory for evaluations. */
export type ExportFormat = keyof typeof EXTENSIONS;

/** The names of the formats. */
export const EXPORT_FORMATS = ["md", "html", "jsonl", "atif"] as const satisfies readonly ExportFormat[];

/** The extension of a format's files, without the dot in front. */
export function extensionOf(format: ExportFormat): string {
  return EXTENSIONS[format];
}

/** The format implied by a file's extension, if any. */
export function findFormat(file: string | undefined): ExportFormat | undefined {
  return EXPORT_FORMATS.find((format) => file?.toLowerCase().endsWith(`.${EXTENSIONS[format]}`));
}
