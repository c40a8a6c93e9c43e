import { existsSync } from "node:fs";
import { join } from "node:path";
import { resolveNamed, toDocument, writeDocument } from "../export/export-document.ts";
import { type ExportFormat, extensionOf } from "../export/export-format.ts";
import type { CommandContext } from "./commands/types.ts";
import { note } from "./commands/types.ts";

const MAX_NUMBER = 1_000;

/**
 * Writes the conversation to a new file (0600): to the given path, relative to the working directory, or to a
 * file named after the session. Never overwrites a file.
 * @throws Error if the file exists or cannot be written.
 */
export async function exportConversation(
  { format, file }: { format: ExportFormat; file: string | undefined },
  context: CommandContext,
): Promise<void> {
  const { cwd, session, redactor, sessionsDirectory, loaded } = await context.session();
  const { branches, sessionId } = session;
  if (branches.path.length === 0) return note(context, "No messages yet.");
  const place = { cwd, environment: context.environment };
  const path = file === undefined ? findFreePath(cwd, sessionId, format) : resolveNamed(file, place);
  const { header, name, entries } = branches;
  const conversation = redactor.redact({ header, path: branches.path, entries, name });
  const surroundings = { sessionsDirectory, redactor, loadConfig: async () => loaded.config };
  writeDocument(path, await toDocument(format, conversation, surroundings));
  note(context, `Exported to ${path}`);
}

function findFreePath(cwd: string, sessionId: string, format: ExportFormat): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? "" : `-${number}`;
    const path = join(cwd, `diligent-${sessionId}${suffix}.${extensionOf(format)}`);
    if (!existsSync(path) || number === MAX_NUMBER) return path;
  }
}
