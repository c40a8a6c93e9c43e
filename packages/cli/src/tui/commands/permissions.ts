import type { SlashCommand } from "./types.ts";

export const PERMISSIONS: SlashCommand = {
  name: "permissions",
  aliases: ["approvals"],
  description: "What is allowed and forbidden; change it",
  argumentHint: "[rule]",
  isAlwaysPossible: true,
  async run(argument, context) {
    if (context.isPlain) {
      const { runPermissionsLine } = await import("../../permissions/permissions-line.ts");
      return context.print((await runPermissionsLine(argument, await context.session())).join("\n"));
    }
    const { addWrittenRule, showPermissions } = await import("../pickers/permissions.ts");
    await (argument === "" ? showPermissions(context) : addWrittenRule(argument, context));
  },
};
