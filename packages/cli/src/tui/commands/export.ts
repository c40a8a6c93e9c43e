import type { SlashCommand } from "./types.ts";

const FORMATS = ["md", "jsonl"] as const;

/** How a conversation is written: for people, or as the lines of a session file. */
export type ExportFormat = (typeof FORMATS)[number];

export const EXPORT: SlashCommand = {
  name: "export",
  description: "Write this conversation into a new file",
  argumentHint: "[md|jsonl] [FILE]",
  isAlwaysPossible: true,
  async run(argument, context) {
    const { exportConversation } = await import("../export-conversation.ts");
    await exportConversation(readArgument(argument), context);
  },
  complete: (prefix) => FORMATS.filter((format) => format.startsWith(prefix)),
};

/** What was asked for: the format counts that is named, else the one that the file is called after. */
export function readArgument(argument: string): { format: ExportFormat; file: string | undefined } {
  const [first = "", ...rest] = argument.split(/\s+/);
  const named = FORMATS.find((format) => format === first);
  const file = (named === undefined ? argument : rest.join(" ")).trim() || undefined;
  const called = FORMATS.find((format) => file?.toLowerCase().endsWith(`.${format}`));
  return { format: named ?? called ?? "md", file };
}
