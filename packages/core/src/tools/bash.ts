import { z } from "zod";
import type { Tool } from "../tool/types.ts";
import type { Workspace } from "./workspace.ts";

const MAX_TIMEOUT_MS = 600_000;

const parameters = z.strictObject({
  command: z.string().min(1),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS, `timeout is at most ${MAX_TIMEOUT_MS} milliseconds`)
    .optional()
    .describe("Milliseconds; default 120000"),
  description: z.string().optional().describe("What it does, in a few words"),
});

export type BashArguments = z.output<typeof parameters>;

/** Runs shell commands, each from the working directory, with no terminal, an empty stdin and no keys. */
export function createBashTool(workspace: Workspace): Tool<typeof parameters> {
  return {
    name: "bash",
    description:
      "Runs a shell command. Every call starts in the working directory, with an empty stdin and no terminal. " +
      "Long output is cut in the middle and kept whole in a file. What runs in the background (&) lives on until the session ends.",
    parameters,
    approval: ({ command }) => ({
      permission: "execute",
      toolName: "bash",
      description: `bash: ${command.trim().replace(/\s*\n\s*/g, " ↵ ")}`,
      details: { command },
    }),
    async execute(args, context) {
      // Loaded with the first command: a model can be told of the tool without it.
      const { runShell } = await import("./shell/run-shell.ts");
      return runShell(args, workspace, context);
    },
  };
}
