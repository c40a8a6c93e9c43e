import type { SlashCommand } from "./types.ts";

/** `/permissions`: opens the list, or adds the rule that is written behind it. @throws Error for what is no rule. */
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
