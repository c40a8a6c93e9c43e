import type { SlashCommand } from "./types.ts";

/** `/config`: as it counts in this session, which was read when the session was opened. */
export const CONFIG: SlashCommand = {
  name: "config",
  aliases: ["settings"],
  description: "The configuration, and where it is from",
  isAlwaysPossible: true,
  async run(_, { print, session }) {
    const { loaded, sandbox } = await session();
    const { formatConfig } = await import("../../commands/config.ts");
    print(`${formatConfig(loaded)}\n${sandbox.text}\nA file that is changed counts after /reload.`);
  },
};
