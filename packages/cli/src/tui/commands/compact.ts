import type { SlashCommand } from "./types.ts";

/** `/compact`: what also happens before the window is full; the argument says what the summary is to dwell on. */
export const COMPACT: SlashCommand = {
  name: "compact",
  aliases: ["compress", "summarize"],
  description: "Summarise the older part of the conversation now",
  argumentHint: "[focus]",
  run: (argument, { compact }) => compact(argument || undefined),
};
