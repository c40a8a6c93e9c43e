import { findName, type ProjectSession } from "@diligent/core/harness";
import { type Environment, findProjectRoot, homeDirectory } from "@diligent/core/run";
import { MENTION_LIMIT_MS, useCommandModel } from "../../session/expand-prompt.ts";
import { NO_COMMAND, readShellLine } from "../../shell-line.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import { describeUnknown, readCommandLine, SLASH_COMMANDS } from "../commands/index.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../commands/types.ts";
import type { ConversationDriver } from "../conversation-driver.ts";
import { stopHint } from "../keys/keymap.ts";
import { attachFiles, findMentions } from "./attachments.ts";

const MAX_TRACE_COLUMNS = 200;
// The maximum length of a provider's name; a longer word may be a key.
const MAX_NAME_COLUMNS = 15;

// An answer is readable before its run has ended; a user who types a command then need not know that.
const GRACE_MS = 500;

type CommandReading = ReturnType<typeof readCommandLine>;
type CommandLine = Extract<CommandReading, { kind: "command" }>;

interface LineDeps {
  context(): CommandContext;
  driver: ConversationDriver;
  environment: Environment;
  /** The session, once prompts may be sent. */
  session(): Promise<ProjectSession>;
  fail(error: unknown): void;
}

/** Handles a line from the editor or the command line. */
export class TypedLines {
  /** Called for every command that starts. `opensList`: the next keys are meant for its list. `done` never rejects. */
  onCommand: (command: { done: Promise<void>; opensList: boolean }) => void = () => {};
  /** Prompts that have not reached the session yet, in the order in which they were sent. */
  private readonly pending = new Map<Promise<unknown>, string>();

  constructor(private readonly deps: LineDeps) {}

  /** Sent prompts that have not reached the session yet, oldest first. */
  get unsaved(): string[] {
    return [...this.pending.values()];
  }

  /** Resolves when all prompts sent so far have reached the session. */
  async arrived(): Promise<void> {
    await Promise.allSettled([...this.pending.keys()]);
  }

  /**
   * Handles a line from the editor. Only here does `!` start a shell command, which runs without approval.
   * @param visibleText its visible part: commands and mentions in a long paste are ignored.
   */
  take(text: string, visibleText: string): void {
    if (readShellLine(visibleText)) void this.runShell(text).catch(this.deps.fail);
    else this.submit(text, findMentions(visibleText));
  }

  /** @param mentions the files to attach; default: those that the text mentions. */
  submit(text: string, mentions?: readonly string[]): void {
    const { fail } = this.deps;
    const line = readCommandLine(text, SLASH_COMMANDS);
    if (line.kind === "prompt") {
      void this.send(line.text, mentions).catch(fail);
    } else if (line.kind === "unknown") {
      void this.sendNamed(text, line).catch(fail);
    } else {
      const opensList = line.command.opensList === true && line.argument === "";
      this.onCommand({ done: this.runCommand(line, text).catch(fail), opensList });
    }
  }

  /** Sends what a command of an extension stands for; without one of that name, the line stays in the editor. */
  private async sendNamed(text: string, line: Extract<CommandReading, { kind: "unknown" }>): Promise<void> {
    const { extensionCommands, untrustedCommands } = await this.deps.session();
    const names = [...extensionCommands.map(({ name }) => name), ...untrustedCommands];
    if (findName(line.name, names) !== undefined) return this.send(text);
    this.deps.context().setPrompt(text);
    throw new Error(describeUnknown(line));
  }

  /** Resolves when the prompt's run has ended, or when the prompt has joined a run. */
  async send(text: string, mentions?: readonly string[]): Promise<void> {
    const pending = this.deliver(text, mentions);
    this.pending.set(pending, text);
    const { ended } = await pending.finally(() => this.pending.delete(pending));
    await ended;
  }

  private async deliver(text: string, mentions: readonly string[] | undefined) {
    const { driver } = this.deps;
    const opened = await this.deps.session();
    const { cwd } = opened;
    const expand = (signal: AbortSignal) => opened.expandLine(text, signal);
    // Only a command named at the beginning can run something.
    const expanding = text.startsWith("/") ? driver.prepare(expand) : expand(new AbortController().signal);
    const expanded = await expanding.catch((error: unknown) => {
      this.deps.context().setPrompt(text);
      throw error;
    });
    if (expanded?.kind === "output") {
      this.deps.context().print(expanded.text);
      return { ended: Promise.resolve() };
    }
    const home = homeDirectory(this.deps.environment);
    const place = { cwd, root: findProjectRoot(cwd, home), home };
    const { content, notes } = await attachFiles(expanded?.text ?? text, {
      ...place,
      mentions: mentions ?? findMentions(text),
      commandMentions: expanded?.mentions,
      redactor: opened.redactor,
      readMention: (mention) => opened.readMention(mention, AbortSignal.timeout(MENTION_LIMIT_MS)),
    });
    if (expanded?.model === undefined || driver.isBusy) return driver.accept({ text, content, notes });
    const restoreModel = await useCommandModel(opened, expanded.model, (each) => notes.push(each));
    const { ended } = await driver.accept({ text, content, notes });
    return { ended: ended.finally(restoreModel) };
  }

  private async runCommand({ command, argument }: CommandLine, text: string): Promise<void> {
    const { driver } = this.deps;
    const context = this.deps.context();
    const mayRun = command.isAlwaysPossible || !driver.isBusy || (await driver.isFreeWithin(GRACE_MS));
    if (!mayRun) {
      context.setPrompt(text);
      throw new Error(`/${command.name} is not available until the run ends${stopHint(context.keymap)}.`);
    }
    // The output follows the typed command, so that outputs can be told apart; a list prints nothing.
    const isList = command.opensList && argument === "";
    if (!isList && command.name !== "quit") note(context, traceOf(command, text));
    await command.run(argument, context);
  }

  private async runShell(text: string): Promise<void> {
    const line = readShellLine(text);
    if (!line?.command) {
      this.deps.context().setPrompt(text);
      throw new Error(NO_COMMAND);
    }
    await this.deps.session();
    const { shell } = this.deps.driver;
    if (shell.isBlocked) this.deps.context().setPrompt(text);
    await shell.run(line, text);
  }
}

/** The typed line, as shown above its output. */
function traceOf({ isPrivate }: CommandLine["command"], text: string): string {
  const [name = "", argument, ...more] = text.trim().split(/\s+/);
  if (isPrivate && argument !== undefined && (more.length > 0 || argument.length > MAX_NAME_COLUMNS))
    return `${name} …`;
  return toSingleLine(text.trim(), MAX_TRACE_COLUMNS);
}
