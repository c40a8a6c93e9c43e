import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ApprovalContext, decideApproval } from "@diligent/core";
import type { Benchmark, Figure } from "../figure.ts";
import type { Stage } from "../stage/stage.ts";

const MODES = ["ask", "accept-edits"] as const;
/** At most this share of real commands may ask in the mode `accept-edits`. */
const BUDGET_PERCENT = 40;

/** A command as other agents gave it; `$ROOT` in it is the project's root. */
interface RecordedCommand {
  cmd: string;
  /** Relative to the root. */
  cwd?: string;
}

/**
 * How many of the commands in a file ask without a sandbox. The commands are never run. The project has a repository and
 * the directories in which they start, but not their files.
 */
export const unasked: Benchmark = {
  name: "unasked",
  about: "commands that ask without a sandbox, of those in `--commands FILE`",
  async measure(stage) {
    if (stage.commandsFile === undefined) return [];
    const commands = readCommands(resolve(stage.commandsFile));
    const context = createContext(stage);
    const figures: Figure[] = [];
    for (const mode of MODES) {
      const share = await askingPercent(commands, { ...context, mode });
      figures.push({
        name: `of ${commands.length} commands ask, ${mode}`,
        unit: "%",
        rule: { kind: "amount" },
        measured: [share],
        ...(mode === "accept-edits" && { budget: BUDGET_PERCENT }),
      });
    }
    return figures;
  },
};

function readCommands(file: string): RecordedCommand[] {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line): RecordedCommand => JSON.parse(line));
}

function createContext(stage: Stage): ApprovalContext {
  const home = stage.scratch.makeDirectory("unasked");
  const root = join(home, "project");
  mkdirSync(root);
  writeFileSync(join(root, "README.md"), "A project.\n");
  execFileSync("git", ["init", "-q", root], { env: stage.environment(home) });
  return { root, cwd: root, home, environment: stage.environment(home) };
}

async function askingPercent(
  commands: readonly RecordedCommand[],
  context: ApprovalContext,
): Promise<number> {
  let asking = 0;
  for (const { cmd, cwd = "." } of commands) {
    const directory = join(context.root, cwd);
    mkdirSync(directory, { recursive: true });
    const command = cmd.replaceAll("$ROOT", context.root);
    const request = {
      permission: "execute",
      toolName: "bash",
      description: "",
      details: { command },
    } as const;
    const { action } = await decideApproval(request, { ...context, cwd: directory });
    if (action !== "allow") asking++;
  }
  return (100 * asking) / commands.length;
}
