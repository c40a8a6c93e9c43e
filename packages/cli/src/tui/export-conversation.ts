import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemErrorText } from "@diligent/core/interactive";
import { homeDirectory } from "@diligent/core/run";
import { toJsonLines, toMarkdown } from "../session-document.ts";
import type { ExportFormat } from "./commands/export.ts";
import { note } from "./commands/note.ts";
import type { CommandContext } from "./commands/types.ts";

const MAX_NUMBER = 1_000;

/**
 * Writes the conversation into a new file (0600): one that is named, from the working directory on, or one called after
 * the session. Nothing is ever overwritten.
 * @throws Error when the file is there already or cannot be written.
 */
export async function exportConversation(
  { format, file }: { format: ExportFormat; file: string | undefined },
  context: CommandContext,
): Promise<void> {
  const { cwd, session } = await context.session();
  const { branches, sessionId } = session;
  if (branches.path.length === 0) return note(context, "Nothing was said in this session yet.");
  const path =
    file === undefined ? findFreePath(cwd, sessionId, format) : resolve(cwd, expandHome(file, context));
  const parts = { header: branches.header, path: branches.path, name: branches.name };
  const text = format === "md" ? toMarkdown(parts) : toJsonLines(parts);
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw new Error(`${path} was not written: ${systemErrorText(error)}`);
  }
  note(context, `Written: ${path}`);
}

function findFreePath(cwd: string, sessionId: string, format: ExportFormat): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? "" : `-${number}`;
    const path = join(cwd, `diligent-${sessionId}${suffix}.${format}`);
    if (!existsSync(path) || number === MAX_NUMBER) return path;
  }
}

function expandHome(file: string, { environment }: Pick<CommandContext, "environment">): string {
  const home = homeDirectory(environment);
  return home !== undefined && file.startsWith("~/") ? join(home, file.slice(2)) : file;
}
