import type { SlashCommand } from "./types.ts";

/** `/quit`: leaves with exit code 0; what is running is stopped. */
export const QUIT: SlashCommand = {
  name: "quit",
  aliases: ["exit", "q"],
  description: "Leave; the session is saved",
  isAlwaysPossible: true,
  run: (_, { quit }) => quit(),
};
