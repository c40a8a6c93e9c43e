import { EXPORT_FORMATS, type ExportFormat, findFormat } from "../../export-format.ts";
import type { SlashCommand } from "./types.ts";

/** `/export`: the branch that is open, as a document or as session lines; as what, the file's name may say too. */
export const EXPORT: SlashCommand = {
  name: "export",
  description: "Write this conversation into a new file",
  argumentHint: "[md|jsonl] [FILE]",
  isAlwaysPossible: true,
  async run(argument, context) {
    const { exportConversation } = await import("../export-conversation.ts");
    await exportConversation(readArgument(argument), context);
  },
  complete: (prefix) => EXPORT_FORMATS.filter((format) => format.startsWith(prefix)),
};

/** What was asked for: the format counts that is named, else the one that the file is called after. */
export function readArgument(argument: string): { format: ExportFormat; file: string | undefined } {
  const [first = "", ...rest] = argument.split(/\s+/);
  const named = EXPORT_FORMATS.find((format) => format === first);
  const file = (named === undefined ? argument : rest.join(" ")).trim() || undefined;
  return { format: named ?? findFormat(file) ?? "md", file };
}
