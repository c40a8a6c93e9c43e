import type { SlashCommand } from "./types.ts";

export const PERMISSIONS: SlashCommand = {
  name: "permissions",
  aliases: ["approvals"],
  description: "What was allowed for good; take it back",
  isAlwaysPossible: true,
  async run(_, context) {
    const { showPermissions } = await import("../pickers/permissions.ts");
    await showPermissions(context);
  },
};
