import type { Command, RunCommand, SubcommandCall } from "./arguments/command.ts";
import { asksForHelp, formatHelp, formatSubcommandHelp } from "./arguments/help.ts";
import { parseArguments } from "./arguments/parse.ts";
import { EXIT_SUCCESS, UsageError } from "./errors.ts";
import { type CliIo, writeFailure } from "./io/io.ts";
import { describeVersion } from "./version.ts";

/**
 * Runs the command line and returns the exit code. Each mode's code is loaded on demand, so that `--help` and usage
 * errors answer at once.
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    if (io.platform === "win32")
      throw new UsageError("Windows is not supported; use WSL: https://aka.ms/wsl");
    return await runCommand(parseArguments(argv), io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    writeFailure(io.stderr, error.message);
    return error.exitCode;
  }
}

async function runCommand(command: Command, io: CliIo): Promise<number> {
  switch (command.kind) {
    case "help":
      io.stdout.write(command.about ? formatSubcommandHelp(command.about) : formatHelp());
      return EXIT_SUCCESS;
    case "version":
      io.stdout.write(`diligent ${await describeVersion()}\n`);
      return EXIT_SUCCESS;
    case "run":
      return runConversation(command, io);
    case "subcommand":
      return runSubcommand(command, io);
    case "list": {
      const { directory } = command.options;
      const list = { isJson: command.isJson, ...(directory !== undefined && { directory }) };
      return (await import("./commands/list.ts")).runList(list, io);
    }
  }
}

async function runSubcommand({ name, rest, directory }: SubcommandCall, io: CliIo): Promise<number> {
  if (asksForHelp(rest)) {
    io.stdout.write(formatSubcommandHelp(name));
    return EXIT_SUCCESS;
  }
  switch (name) {
    case "demo":
      return (await import("./commands/demo.ts")).runDemo(rest, io);
    case "login":
      return (await import("./commands/login.ts")).runLogin(rest, io);
    case "logout":
      return (await import("./commands/login.ts")).runLogout(rest, io);
    case "config":
      return (await import("./commands/config.ts")).runConfig(rest, io, directory);
    case "trust":
      return (await import("./commands/trust.ts")).runTrust(rest, io, directory);
    case "untrust":
      return (await import("./commands/trust.ts")).runUntrust(rest, io, directory);
    case "sessions":
      return (await import("./commands/sessions.ts")).runSessions(rest, io, directory);
    case "review":
      return (await import("./commands/review.ts")).runReviewCommand(rest, io, directory);
    case "runs":
      return (await import("./commands/runs.ts")).runRuns(rest, io);
    case "undo":
      return (await import("./commands/undo.ts")).runUndo(rest, io, directory);
    case "knowledge":
      return (await import("./commands/knowledge.ts")).runKnowledge(rest, io, directory);
    case "agents":
      return (await import("./commands/agents.ts")).runAgents(rest, io, directory);
    case "rules":
      return (await import("./commands/rules.ts")).runRules(rest, io, directory);
    case "plugins":
      return (await import("./commands/plugins.ts")).runPlugins(rest, io);
    case "skills":
      return (await import("./commands/skills.ts")).runSkills(rest, io, directory);
    case "history":
      return (await import("./commands/history.ts")).runHistory(rest, io, directory);
    case "import":
      return (await import("./commands/import.ts")).runImport(rest, io, directory);
    case "network":
      return (await import("./commands/network.ts")).runNetwork(rest, io, directory);
    case "replay":
      return (await import("./commands/replay.ts")).runReplay(rest, io, directory);
    case "what-if":
      return (await import("./worktree/what-if-command.ts")).runWhatIf(rest, io, directory);
    case "mcp":
      return (await import("./commands/mcp.ts")).runMcp(rest, io, directory);
    case "cost":
      return (await import("./commands/cost.ts")).runCost(rest, io, directory);
    case "usage":
      return (await import("./commands/usage.ts")).runUsage(rest, io, directory);
    case "models":
      return (await import("./commands/models.ts")).runModels(rest, io, directory);
    case "export":
      return (await import("./commands/export.ts")).runExport(rest, io, directory);
    case "acp":
      return (await import("./commands/acp.ts")).runAcp(rest, io);
    case "doctor":
      return (await import("./commands/doctor.ts")).runDoctor(rest, io, directory);
    case "completions":
      return (await import("./commands/completions.ts")).runCompletions(rest, io);
  }
}

/** An option that only makes sense without a screen. */
function findUnattendedOption({ options }: RunCommand): string | undefined {
  if (options.outputFormat !== undefined) return "--output-format";
  if (options.inputFormat !== undefined) return "--input-format";
  if (options.jsonSchema !== undefined) return "--json-schema";
  return options.permissionPrompt === undefined ? undefined : "--permission-prompt";
}

async function runConversation(command: RunCommand, io: CliIo): Promise<number> {
  if (!command.options.worktree) return runHere(command, io);
  const { runInWorktree } = await import("./worktree/run-in-worktree.ts");
  return runInWorktree(command, io, (moved) => runHere(moved, io));
}

/** Print mode if requested, or if there is no terminal. */
async function runHere(given: RunCommand, io: CliIo): Promise<number> {
  const command =
    given.resumption?.word === undefined
      ? given
      : await (await import("./session/resume.ts")).resolveResumption(given, io);
  const isPrint = command.isPrint || !io.stdin.isTerminal || !io.stdout.isTerminal;
  if (isPrint) return (await import("./print/print.ts")).runPrint(command, io);
  if (command.prompt?.trim() === "") throw new UsageError("the prompt is empty");
  const unattended = findUnattendedOption(command);
  if (unattended !== undefined) throw new UsageError(`${unattended} needs -p`);
  if (command.options.isPlain || io.environment.TERM === "dumb")
    return (await import("./line-prompt/line-prompt.ts")).runLinePrompt(command, io);
  return (await import("./tui/app.ts")).runTui(command, io);
}
