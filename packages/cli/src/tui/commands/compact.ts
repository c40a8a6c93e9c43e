import type { SlashCommand } from "./types.ts";

export const COMPACT: SlashCommand = {
  name: "compact",
  aliases: ["compress", "summarize"],
  description: "Summarise the older part of the conversation now",
  argumentHint: "[focus]",
  run: (argument, { compact }) => compact(argument || undefined),
};
