import { join, relative } from "node:path";
import type { TrustItem, TrustKind } from "../../config/trust-items.ts";
import { COMMAND_LOCATIONS, findNestedDirectories } from "../definitions/directories.ts";
import { type CommandFile, readCommands } from "./find-commands.ts";

/** The commands of a project, as they need trust. */
export const COMMAND_TRUST: TrustKind = {
  kind: "command",
  title: "Commands that stand for a prompt",
  noun: ["command", "commands"],
  async find({ root }) {
    const directories = findNestedDirectories(root, COMMAND_LOCATIONS.project);
    const { commands, skipped } = await readCommands(directories, { keepsEqualNames: true });
    return {
      items: commands.map((command) => toCommandItem(command, root)),
      warnings: skipped.map(({ shown, reason }) => ({
        code: "command_not_loaded",
        message: `${join(root, shown)} is not a usable command: ${reason}`,
      })),
    };
  },
};

/** What the user decides about before a command of the project is used. */
export function toCommandItem(command: CommandFile, root: string): TrustItem & { command: CommandFile } {
  const { name, description, allowedTools, shellCommands, model, path, sha256 } = command;
  const details: Record<string, string> = { description };
  if (shellCommands.length > 0) details.runs = shellCommands.join(" ; ");
  if (allowedTools.length > 0) details["allowed-tools"] = allowedTools.join(", ");
  if (model !== undefined) details.model = model;
  return { kind: "command", name, path: relative(root, path), details, sha256, command };
}
