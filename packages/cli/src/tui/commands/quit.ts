import type { SlashCommand } from "./types.ts";

export const QUIT: SlashCommand = {
  name: "quit",
  aliases: ["exit", "q"],
  description: "Leave; the session is saved",
  isAlwaysPossible: true,
  run: (_, { quit }) => quit(),
};
