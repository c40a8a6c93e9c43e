import { HiddenLine } from "../io/hidden-line.ts";
import { type CliOutput, writeLine } from "../io/io.ts";
import { NO_COMMAND, readShellLine, type ShellLine } from "../shell-line.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { LineConversation, type LineConversationDeps } from "./conversation.ts";

/**
 * Handles a line from the user. It answers the open question, or else joins the current run, or else is the next
 * prompt; lines that must wait for the current task are queued.
 */
export class InputLines {
  readonly conversation: LineConversation;
  /** Lines queued for the end of the current task. */
  private readonly waiting: string[] = [];
  /**
   * Lines typed after a slash command that is being started during a run: the command may ask for one of
   * them.
   */
  private following: string[] | undefined;
  /** A word of the command line that waits for confirmation. */
  private unconfirmed: string | undefined;
  /** The user was told that a second Ctrl+C quits. */
  private isWarned = false;

  constructor(
    private readonly output: CliOutput,
    private readonly deps: Omit<LineConversationDeps, "send" | "ended" | "askedSecret" | "askedQuestion">,
  ) {
    this.conversation = new LineConversation(output, {
      ...deps,
      // A typed line would be a command.
      send: (text) => this.takePrompt(text.startsWith("/") ? `/${text}` : text, text),
      askedSecret: () => {
        const isBesideRun = this.following !== undefined;
        const [line, ...rest] = (this.following ?? this.waiting).splice(0);
        this.following = undefined;
        if (line !== undefined) this.conversation.giveSecret(line);
        if (isBesideRun) for (const next of rest) this.take(next);
      },
      askedQuestion: (isAnswer) => {
        const [line] = this.waiting;
        if (line === undefined || !isAnswer(line)) return;
        this.waiting.shift();
        this.conversation.giveAnswer(line);
      },
      ended: () => {
        for (const line of this.waiting.splice(0)) this.takeWaiting(line);
      },
    });
  }

  /** A prompt of the command line: it may be text from others, so it is never a shell command. */
  begin(prompt: string): void {
    if (readInputLine(prompt).kind === "shell") this.takePrompt(prompt, prompt);
    else this.take(prompt);
  }

  /** Asks whether a word that may be a mistyped command is meant as a prompt; the next line answers. */
  confirm(word: string): void {
    this.unconfirmed = word;
    this.output.write(sanitizeTerminalText(`Unknown command ${word}. Send it as a prompt? [y/N] `));
  }

  /** Lists the sessions to choose from. @param prompt of the command line; it is sent after a session is chosen. */
  chooseSession(prompt: string | undefined): void {
    if (prompt !== undefined) this.conversation.line(`Not sent yet, choose a session first: ${prompt}`);
    this.conversation.beginCommand("/resume");
  }

  /** A line as typed, without its end. Ignored while the program is shutting down. */
  take(line: string): void {
    if (this.deps.isShuttingDown()) return;
    this.isWarned = false;
    if (this.unconfirmed !== undefined) {
      this.takeConfirmation(line, this.unconfirmed);
      return;
    }
    const { approvals } = this.conversation;
    if (this.following) {
      this.following.push(line);
      return;
    }
    if (this.conversation.isAskingSecret) {
      this.conversation.giveSecret(line);
      return;
    }
    if (this.conversation.isAskingQuestion) {
      this.conversation.giveAnswer(line);
      return;
    }
    if (approvals.isAsking) {
      approvals.give(line);
      return;
    }
    const input = readInputLine(line);
    switch (input.kind) {
      case "empty":
        this.conversation.showPrompt();
        return;
      case "prompt":
        this.takePrompt(line, input.text);
        return;
      case "command":
        this.takeCommand(input.line);
        return;
      case "shell":
        this.takeShell(line, input.line);
        return;
      case "quit":
        this.say("Type /quit at the prompt to quit; Ctrl+C stops the current task.");
    }
  }

  /**
   * Stops the current task and everything queued after it. Queued prompts stay in the input history. Resolves when the
   * task has ended.
   */
  async stop(): Promise<void> {
    for (const line of this.waiting.splice(0)) {
      const input = readInputLine(line);
      if (input.kind === "prompt") this.deps.opened().noteInput(input.text);
    }
    await this.conversation.interrupt();
  }

  /** Says that a second Ctrl+C quits; false if that was already said and nothing was typed since. */
  warnAboutQuitting(): boolean {
    if (this.isWarned) return false;
    this.isWarned = true;
    this.output.write("\n");
    this.say("Press Ctrl+C again to quit.");
    return true;
  }

  private takeConfirmation(line: string, word: string): void {
    this.unconfirmed = undefined;
    if (/^\s*y(es)?\s*$/i.test(line)) this.begin(word);
    else if (/^\s*(no?)?\s*$/i.test(line)) this.conversation.showPrompt();
    // Typing something else cancels the pending confirmation.
    else this.take(line);
  }

  private takePrompt(line: string, text: string): void {
    const { conversation } = this;
    if (this.deps.isShuttingDown()) return;
    if (conversation.doing === undefined) conversation.begin(text);
    else if (conversation.doing === "run")
      void conversation.steer(text).catch((error: unknown) => conversation.fail(error));
    else this.waiting.push(line);
  }

  private takeCommand(line: string): void {
    const { conversation } = this;
    if (conversation.doing === undefined) conversation.beginCommand(line);
    else if (conversation.doing === "run") void this.takeCommandDuringRun(line);
    else this.waiting.push(line);
  }

  /** A permission, for example, applies immediately; changes to the conversation wait for the end of the run. */
  private async takeCommandDuringRun(line: string): Promise<void> {
    const { conversation } = this;
    const following: string[] = [];
    this.following = following;
    const commands = await conversation.openCommands();
    if (this.deps.isShuttingDown()) return;
    if (conversation.doing !== undefined && commands.isAlwaysPossible(line))
      await commands.run(line).catch((error: unknown) => conversation.fail(error));
    else {
      this.following = undefined;
      if (conversation.doing === undefined) this.take(line);
      else this.waiting.push(line);
    }
    if (this.following === following) this.following = undefined;
    for (const next of following.splice(0)) this.take(next);
  }

  private takeShell(typed: string, line: ShellLine): void {
    if (line.command === "") this.say(NO_COMMAND);
    else if (this.conversation.doing === undefined) this.conversation.beginShell(line, typed);
    else this.waiting.push(typed);
  }

  /** The line was typed amid other output: it is repeated above its result. */
  private takeWaiting(line: string): void {
    if (this.conversation.doing === undefined) writeLine(this.output, line);
    this.take(line);
  }

  private say(text: string): void {
    this.conversation.line(text);
    this.conversation.showPrompt();
  }
}

/** How a line is interpreted. */
type InputLine =
  | { kind: "empty" }
  | { kind: "prompt"; text: string }
  /** Looks like a slash command; whether one of that name exists is not checked yet. */
  | { kind: "command"; line: string }
  | { kind: "quit" }
  /** A shell command of the user; undefined if only the marks were typed. */
  | { kind: "shell"; line: ShellLine };

// A slash or a dot follows in a path, but not in a command.
const COMMAND = /^\/([\w-][\w:-]*|\?)(?:\s+([\s\S]*))?$/;
const QUIT = new Set(["quit", "exit", "q"]);

/** Parses a line; `//` at the start stands for a prompt that starts with one slash. */
export function readInputLine(line: string): InputLine {
  const trimmed = line.trim();
  if (trimmed === "") return { kind: "empty" };
  if (trimmed.startsWith("//")) return { kind: "prompt", text: trimmed.slice(1) };
  const shell = readShellLine(trimmed);
  if (shell) return { kind: "shell", line: shell };
  const [, name, argument = ""] = COMMAND.exec(trimmed) ?? [];
  if (name === undefined) return { kind: "prompt", text: line };
  return QUIT.has(name) && argument === "" ? { kind: "quit" } : { kind: "command", line: trimmed };
}

/**
 * The lines of a byte stream as they complete, without their ends; an unterminated last line counts.
 * @param isHidden true while the terminal neither echoes nor edits; a cancelled line is empty.
 */
export async function* readInputLines(
  stream: ReadableStream<Uint8Array>,
  { isHidden = () => false }: { isHidden?: () => boolean } = {},
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let hidden: HiddenLine | undefined;
  for await (const chunk of stream) {
    let text = decoder.decode(chunk, { stream: true });
    if (isHidden()) {
      hidden ??= new HiddenLine();
      const end = hidden.push(text);
      if (end === undefined) continue;
      hidden = undefined;
      yield end.how === "enter" ? end.text : "";
      text = end.rest;
    }
    hidden = undefined;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
