import type { SlashCommand } from "./types.ts";

/** `/network`: the connections of this session, allowed or refused. */
export const NETWORK: SlashCommand = {
  name: "network",
  description: "What was connected to, and what was refused",
  isAlwaysPossible: true,
  async run(_, { print, session, columns }) {
    const { networkRecords } = await session();
    const { formatNetworkRecords } = await import("../../commands/network.ts");
    print(["Network of this session", "", ...formatNetworkRecords(networkRecords(), columns())].join("\n"));
  },
};
