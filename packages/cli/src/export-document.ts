import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemErrorText } from "@diligent/core/interactive";
import { type Environment, homeDirectory } from "@diligent/core/run";
import type { ExportFormat } from "./export-format.ts";
import { type DocumentParts, toJsonLines, toMarkdown } from "./session-document.ts";

/** The text of a whole file; its last line is ended. */
export function toDocument(format: ExportFormat, parts: DocumentParts): string {
  return format === "md" ? toMarkdown(parts) : toJsonLines(parts);
}

/** A file as somebody names it: from a directory on, or from their home. */
export function resolveNamed(
  file: string,
  { cwd, environment }: { cwd: string; environment: Environment },
): string {
  const home = homeDirectory(environment);
  return home !== undefined && file.startsWith("~/") ? join(home, file.slice(2)) : resolve(cwd, file);
}

/**
 * Writes a document into a new file (0600). Nothing is ever overwritten.
 * @throws Error with a line for the user when the file is there already or cannot be written.
 */
export function writeDocument(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw new Error(`${path} was not written: ${systemErrorText(error)}`);
  }
}
