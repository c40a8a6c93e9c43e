import { type Environment, findProjectRoot, homeDirectory } from "@diligent/core/run";
import type { OpenSession } from "../open-session.ts";
import { NO_COMMAND, readShellLine } from "../shell-line/read-shell-line.ts";
import { toSingleLine } from "../terminal-text.ts";
import { attachFiles, findMentions } from "./attachments/index.ts";
import { describeUnknown, readCommandLine } from "./commands/find-command.ts";
import { SLASH_COMMANDS } from "./commands/index.ts";
import type { CommandContext } from "./commands/types.ts";
import type { ConversationDriver } from "./conversation-driver.ts";
import { stopHint } from "./keys/key-texts.ts";
import { note } from "./note.ts";

const MAX_TRACE_COLUMNS = 200;

// An answer can be read before its run has ended: whoever types a command then need not know of that.
const GRACE_MS = 500;

type CommandLine = Extract<ReturnType<typeof readCommandLine>, { kind: "command" }>;

interface LineParts {
  context(): CommandContext;
  driver: ConversationDriver;
  environment: Environment;
  /** The session, once prompts may be sent. */
  session(): Promise<OpenSession>;
  fail(error: unknown): void;
}

/** Does what a line says that was written in the editor or came with the command line. */
export class TypedLines {
  constructor(private readonly parts: LineParts) {}

  /**
   * A line from the editor: only there is a `!` a command for the shell, which runs without being asked about.
   * @param visibleText what of it was in sight; neither commands nor files are taken from a long paste.
   */
  take(text: string, visibleText: string): void {
    if (readShellLine(visibleText)) void this.runShell(text).catch(this.parts.fail);
    else this.submit(text, findMentions(visibleText));
  }

  /** @param mentions the files that are attached; those that the text names when left out. */
  submit(text: string, mentions?: readonly string[]): void {
    const { fail } = this.parts;
    const context = this.parts.context();
    const line = readCommandLine(text, SLASH_COMMANDS);
    if (line.kind === "prompt") {
      void this.send(line.text, mentions).catch(fail);
    } else if (line.kind === "unknown") {
      fail(new Error(describeUnknown(line)));
      context.setPrompt(text);
    } else {
      void this.runCommand(line, text).catch(fail);
    }
  }

  /** Resolves when the prompt's run has ended, or when it has joined one. */
  async send(text: string, mentions?: readonly string[]): Promise<void> {
    const { cwd } = await this.parts.session();
    const home = homeDirectory(this.parts.environment);
    const place = { cwd, root: findProjectRoot(cwd, home), home };
    const { content, notes } = await attachFiles(text, { ...place, ...(mentions && { mentions }) });
    const sending = this.parts.driver.send({ text, content });
    for (const each of notes) note(this.parts.context(), each);
    await sending;
  }

  private async runCommand({ command, argument }: CommandLine, text: string): Promise<void> {
    const { driver } = this.parts;
    const context = this.parts.context();
    const mayRun = command.isAlwaysPossible || !driver.isBusy || (await driver.isFreeWithin(GRACE_MS));
    if (!mayRun) {
      context.setPrompt(text);
      throw new Error(`/${command.name} has to wait until the run has ended${stopHint(context.keymap)}.`);
    }
    // What it prints stands below what was typed, or nobody could tell one answer from the next; a list prints nothing.
    const isList = command.opensList && argument === "";
    if (!isList && command.name !== "quit") note(context, toSingleLine(text.trim(), MAX_TRACE_COLUMNS));
    await command.run(argument, context);
  }

  private async runShell(text: string): Promise<void> {
    const line = readShellLine(text);
    if (!line?.command) {
      this.parts.context().setPrompt(text);
      throw new Error(NO_COMMAND);
    }
    await this.parts.session();
    const { shell } = this.parts.driver;
    if (shell.isBlocked) this.parts.context().setPrompt(text);
    await shell.run(line, text);
  }
}
