import type { SlashCommand } from "./types.ts";

/** `/secrets`: the secrets that were masked in this conversation, and where. */
export const SECRETS: SlashCommand = {
  name: "secrets",
  description: "Which secrets were masked in this conversation, and where",
  isAlwaysPossible: true,
  async run(_, { print, session }) {
    const { session: opened, loaded } = await session();
    const { describeMasked } = await import("../../session/masked-secrets.ts");
    print(describeMasked(opened.branches.path, loaded.config.secrets).join("\n"));
  },
};
