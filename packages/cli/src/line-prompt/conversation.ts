import type { ContentBlock } from "@diligent/core/run";
import { describeError } from "../errors.ts";
import type { CliOutput } from "../io/io.ts";
import { ActiveTask, runPrompt } from "../session/conversation.ts";
import { expandToContent, useCommandModel } from "../session/expand-prompt.ts";
import { runShellLine, type ShellLine, shareShellLine } from "../shell-line.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import type { PlainCommands, PlainContextDeps } from "./commands.ts";
import { PlainApprovals } from "./questions.ts";
import { Transcript } from "./transcript.ts";

const PROMPT = "diligent> ";
const YES = /^\s*y(es)?\s*$/i;
const NO = /^\s*(no?)?\s*$/i;

/** The current session, how it is replaced, and how the program quits. */
export type LineConversationDeps = Pick<
  PlainContextDeps,
  "opened" | "reopen" | "environment" | "quit" | "send"
> & {
  /** The program is about to end: nothing new may start. */
  isShuttingDown(): boolean;
  /** Turns off the terminal's echo until the returned function is called. */
  hideInput(): () => void;
  /** Called when a secret is asked for: lines typed before answer it and are not prompts. */
  askedSecret(): void;
  /** Called when a question is asked that `isAnswer` lines answer: one typed before answers it. */
  askedQuestion(isAnswer: (line: string) => boolean): void;
  /** Called when no task is running any more, once the prompt is shown. */
  ended(): void;
};

/** The current task: a run of the model, which prompts can join, a slash command, or a shell command of the user. */
type LineWork = "run" | "command" | "shell";

/** A conversation in lines: does one thing at a time and prints the results. */
export class LineConversation {
  /** The approval questions of the run. */
  readonly approvals: PlainApprovals;
  private readonly transcript: Transcript;
  private readonly work: ActiveTask<LineWork>;
  private commands: PlainCommands | undefined;
  /** Gets the next line, which is not echoed. */
  private secret: ((line: string) => void) | undefined;
  /** Gets the next line, which answers a question; undefined if the task was stopped. */
  private answer: ((line: string | undefined) => void) | undefined;
  /** Notices to show once no task is running. */
  private readonly held: string[] = [];

  constructor(
    private readonly output: CliOutput,
    private readonly deps: LineConversationDeps,
  ) {
    this.transcript = new Transcript(output);
    this.approvals = new PlainApprovals(output, () => this.isInterrupted);
    this.work = new ActiveTask({
      failed: (error) => this.fail(error),
      ended: () => {
        if (!deps.isShuttingDown()) for (const text of this.held.splice(0)) this.line(text);
        this.showPrompt();
        deps.ended();
      },
    });
  }

  /** The next line is a secret. */
  get isAskingSecret(): boolean {
    return this.secret !== undefined;
  }

  /** Answers the open question for a secret; empty: cancelled. */
  giveSecret(line: string): void {
    this.secret?.(line);
  }

  /** The next line answers a question of a command. */
  get isAskingQuestion(): boolean {
    return this.answer !== undefined;
  }

  /** Answers the open question. */
  giveAnswer(line: string | undefined): void {
    this.answer?.(line);
  }

  /** Undefined while no task is running. */
  get doing(): LineWork | undefined {
    return this.work.what;
  }

  /** The current task was stopped and has not ended yet. */
  get isInterrupted(): boolean {
    return this.work.isStopped;
  }

  /** Starts a run; like all other starts, call it only while no task is running. */
  begin(prompt: string): void {
    const opened = this.deps.opened();
    opened.noteInput(prompt);
    this.commands?.forgetList();
    const { transcript } = this;
    void this.work.begin("run", async (signal) => {
      const expanded = await this.expand(prompt, signal);
      if (expanded === undefined) return;
      const restoreModel = await useCommandModel(opened, expanded.model, (text) => this.line(text));
      try {
        const { content } = expanded;
        await runPrompt(opened.session, content, { signal, show: (event) => transcript.show(event) });
      } finally {
        await restoreModel();
      }
    });
  }

  /** Sends a prompt into the current run. */
  async steer(prompt: string): Promise<void> {
    const { session } = this.deps.opened();
    const expanded = await this.expand(prompt, this.work.signal ?? new AbortController().signal);
    if (expanded !== undefined) session.steer(expanded.content);
  }

  /** What is sent for a prompt; undefined if its command only had something to say, which is shown. */
  private async expand(
    prompt: string,
    signal: AbortSignal,
  ): Promise<{ content: string | ContentBlock[]; model?: string | undefined } | undefined> {
    const expanded = await expandToContent(prompt, { opened: this.deps.opened(), signal, source: "typed" });
    if ("kind" in expanded) {
      this.line(expanded.text);
      return undefined;
    }
    for (const text of expanded.notes) this.line(text);
    return expanded;
  }

  /** Starts a slash command. */
  beginCommand(line: string): void {
    void this.work.begin("command", async () => (await this.openCommands()).run(line));
  }

  /** Runs a shell command of the user. @param typed the whole line, for the input history. */
  beginShell(line: ShellLine, typed: string): void {
    const opened = this.deps.opened();
    opened.noteInput(typed);
    void this.work.begin("shell", async (signal) => {
      const result = await runShellLine(line, opened, { signal });
      this.line(result.output);
      await shareShellLine(line, result, opened);
    });
  }

  /** The slash commands, loaded on first use. */
  async openCommands(): Promise<PlainCommands> {
    const { PlainCommands } = await import("./commands.ts");
    this.commands ??= new PlainCommands({
      ...this.deps,
      signal: () => this.work.signal ?? new AbortController().signal,
      whenIdle: (wait) => this.whenIdle(wait),
      columns: () => this.output.columns ?? Number.POSITIVE_INFINITY,
      line: (text) => this.line(text),
      readSecret: (question) => this.readSecret(question),
      confirm: (question) => this.confirm(question),
      show: (event) => this.transcript.show(event),
    });
    return this.commands;
  }

  /** A slash command is itself a task, so it does not wait for its own end. */
  private async whenIdle(wait: () => void): Promise<void> {
    if (this.doing === "run") wait();
    while (this.doing === "run") await this.work.ended;
  }

  /** Stops the current task, and resolves when it has ended. */
  async interrupt(): Promise<void> {
    const stopped = this.work.stop();
    this.approvals.give(undefined);
    this.giveSecret("");
    this.giveAnswer(undefined);
    await stopped;
  }

  private readSecret(question: string): Promise<string> {
    this.line(question);
    this.output.write("Key: ");
    const show = this.deps.hideInput();
    return new Promise((resolve) => {
      this.secret = (line) => {
        this.secret = undefined;
        show();
        this.output.write("\n");
        resolve(line);
      };
      this.deps.askedSecret();
    });
  }

  private async confirm(question: string): Promise<boolean> {
    for (let hint = ""; ; hint = "Please answer y or n. ") {
      this.output.write(sanitizeTerminalText(`${hint}${question} [y/N] `));
      const line = await this.nextAnswer();
      if (line === undefined || NO.test(line)) return false;
      if (YES.test(line)) return true;
    }
  }

  private nextAnswer(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.answer = (line) => {
        this.answer = undefined;
        resolve(line);
      };
      this.deps.askedQuestion((line) => YES.test(line) || NO.test(line));
    });
  }

  /** Prints the prompt; nothing while a task is running. */
  showPrompt(): void {
    if (this.doing === undefined) this.output.write(PROMPT);
  }

  /** Shows a notice once no task is running, so that it does not interrupt an open question. */
  notify(text: string): void {
    if (this.doing !== undefined) {
      this.held.push(text);
      return;
    }
    // Text being typed at the prompt stays above it.
    this.output.write("\n");
    this.line(text);
    this.showPrompt();
  }

  /** Prints a separate line. */
  line(text: string): void {
    this.transcript.line(text);
  }

  /** Prints an error. */
  fail(error: unknown): void {
    this.line(`error: ${describeError(error)}`);
  }
}
