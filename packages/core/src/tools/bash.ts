import type { z } from "zod";
import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { BashParameters } from "./parameters.ts";
import type { Workspace } from "./workspace.ts";

/** The arguments of a call, as `bashParameters` lets them through. */
export type BashArguments = z.output<BashParameters>;

/** Runs shell commands, each from the working directory, with no terminal, an empty stdin and no keys. */
export function createBashTool(workspace: Workspace): Tool<BashParameters> {
  return {
    name: "bash",
    description:
      "Runs a shell command. Every call starts in the working directory, with an empty stdin and no terminal. " +
      "Long output is cut in the middle and kept whole in a file. What runs in the background (&) lives on until the session ends.",
    get parameters() {
      return loadParameters().bashParameters;
    },
    inputSchema: INPUT_SCHEMAS.bash,
    approval(args) {
      const isOutside = workspace.commandBox !== undefined && args.outside_sandbox === true;
      const reason = isOutside ? loadQuoting().quoteReason(args.reason) : undefined;
      const line = args.command.trim().replace(/\s*\n\s*/g, " ↵ ");
      return {
        permission: "execute",
        toolName: "bash",
        description: `${isOutside ? "bash outside the sandbox" : "bash"}: ${line}`,
        details: isOutside
          ? { command: args.command, outsideSandbox: true, ...(reason && { reason }) }
          : { command: args.command },
      };
    },
    async execute(args, context) {
      // Loaded with the first command: a model can be told of the tool without it.
      const { runShell } = await import("./shell/run-shell.ts");
      return runShell(args, workspace, context);
    },
  };
}

/** At once, since what is to be asked is no promise; loaded with the first call that has a reason to give. */
function loadQuoting(): typeof import("./shell/quote-reason.ts") {
  return require("./shell/quote-reason.ts");
}
