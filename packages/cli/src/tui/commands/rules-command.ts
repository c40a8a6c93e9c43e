import type { SlashCommand } from "./types.ts";

/** `/rules`: the rules of this session with their lines and guards, and what is not enforced. */
export const RULES: SlashCommand = {
  name: "rules",
  description: "Rules of instruction files that calls are held to",
  isAlwaysPossible: true,
  async run(_, { print, session, environment }) {
    const { cwd, loaded, projectTrust } = await session();
    const { findRules } = await import("@diligent/core/definitions");
    const { formatRules } = await import("../../rules/format-rules.ts");
    const place = { cwd, root: loaded.projectRoot, environment, settings: loaded.config.rules };
    print(formatRules(await findRules(place, await projectTrust(), { nested: true })).join("\n"));
  },
};
