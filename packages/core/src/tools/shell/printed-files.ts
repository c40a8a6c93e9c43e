import { resolve } from "node:path";
import { locateFile, readWholeFile } from "../../infrastructure/fs/read.ts";
import { decodeUtf8 } from "../../infrastructure/text/text-file.ts";
import { toLineFeeds } from "../edit/lines.ts";
import { toPrivatePath } from "../target.ts";
import { createFingerprint, type FileFingerprint, type Workspace } from "../workspace.ts";
import { toOutputText } from "./output.ts";

// Longer outputs are truncated, so no larger file is printed completely.
const MAX_FILE_BYTES = 50 * 1024;
const MAX_COMMAND_CHARS = 4_000;
const MAX_PATHS = 100;

/**
 * Marks the files as read whose whole content a command has printed. The output is compared with the files that the
 * command names: whatever program printed them, the model has seen a file if its lines are in the output, unchanged and
 * together.
 * @param output as the model receives it.
 */
export function recordPrintedFiles(workspace: Workspace, command: string, output: string): void {
  for (const path of findCommandPaths(workspace, command)) {
    const printed = readIfPrinted(path, output);
    if (printed) workspace.files.recordRead(printed.realPath, printed.fingerprint, printed);
  }
}

/** Absolute paths that words of the command may name; most of them do not exist. */
export function findCommandPaths(
  { cwd, commandTemporary }: Pick<Workspace, "cwd" | "commandTemporary">,
  command: string,
): string[] {
  if (command.length > MAX_COMMAND_CHARS || command.includes("\0")) return [];
  const names = command.match(/"[^"\n]+"|'[^'\n]+'|[^\s"';&|()<>]+/g) ?? [];
  const words = [...new Set(names.map((name) => name.replace(/^(["'])(.*)\1$/, "$2")))];
  const entered = [...command.matchAll(/\bcd\s+([^\s"';&|()<>]+)/g)].map(([, to = ""]) => resolve(cwd, to));
  const view = commandTemporary?.();
  const paths = words.flatMap((word) => [cwd, ...entered].map((directory) => resolve(directory, word)));
  return [...new Set(paths.slice(0, MAX_PATHS).map((path) => (view ? toPrivatePath(path, view) : path)))];
}

interface PrintedFile {
  realPath: string;
  fingerprint: FileFingerprint;
  content: Uint8Array;
}

/** The file as it is now, if the output contains all of it. */
function readIfPrinted(path: string, output: string): PrintedFile | undefined {
  try {
    const { realPath, stats } = locateFile(path);
    if (!stats?.isFile() || stats.size > MAX_FILE_BYTES) return undefined;
    const content = readWholeFile(realPath);
    const text = toLineFeeds(decodeUtf8(content).text);
    // The model does not see what is removed from an output, such as colors.
    if (toOutputText(Buffer.from(text)) !== text || !containsLines(output, text)) return undefined;
    return { realPath, fingerprint: createFingerprint(stats, content), content };
  } catch {
    return undefined; // The word names no file, or none that could have been printed as text.
  }
}

/** White space at the end does not count: it is removed from an output. */
function containsLines(output: string, text: string): boolean {
  return `\n${output.trimEnd()}\n`.includes(`\n${text.trimEnd()}\n`);
}
