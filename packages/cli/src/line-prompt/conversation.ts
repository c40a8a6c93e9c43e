import type { CliOutput } from "../cli-io.ts";
import { CurrentWork } from "../conversation/current-work.ts";
import { runPrompt } from "../conversation/run-prompt.ts";
import { describeError } from "../describe-error.ts";
import type { ShellLine } from "../shell-line/read-shell-line.ts";
import { runShellLine, tellOfShellLine } from "../shell-line/run-shell-line.ts";
import { PlainApprovals } from "./plain-approvals.ts";
import type { PlainCommands } from "./plain-commands.ts";
import type { PlainContextParts } from "./plain-context.ts";
import { Transcript } from "./transcript.ts";

const PROMPT = "diligent> ";

/** The session that is talked to, how it is exchanged for another one, and how the program is left. */
export type ConversationParts = Pick<
  PlainContextParts,
  "opened" | "reopen" | "environment" | "quit" | "send"
> & {
  /** The program is about to end: nothing is to begin any more. */
  isLeaving(): boolean;
  /** Told when nothing goes on any more, once the prompt is shown. */
  ended(): void;
};

/** What goes on: a run of the model's, which prompts can join, a slash command, or a command of the user's own. */
type LineWork = "run" | "command" | "shell";

/** A conversation by lines: does one thing at a time, and shows what comes of it. */
export class Conversation {
  /** Where the run asks for consent. */
  readonly approvals: PlainApprovals;
  private readonly transcript: Transcript;
  private readonly work: CurrentWork<LineWork>;
  private commands: PlainCommands | undefined;
  /** What is to be told once nothing goes on. */
  private readonly held: string[] = [];

  constructor(
    private readonly output: CliOutput,
    private readonly parts: ConversationParts,
  ) {
    this.transcript = new Transcript(output);
    this.approvals = new PlainApprovals(output, () => this.isInterrupted);
    this.work = new CurrentWork({
      failed: (error) => this.fail(error),
      ended: () => {
        if (!parts.isLeaving()) for (const text of this.held.splice(0)) this.line(text);
        this.showPrompt();
        parts.ended();
      },
    });
  }

  /** Undefined while nothing goes on. */
  get doing(): LineWork | undefined {
    return this.work.what;
  }

  /** What goes on was stopped, and has not ended yet. */
  get isInterrupted(): boolean {
    return this.work.isStopped;
  }

  /** Begins a run; to be called while nothing goes on, as everything that begins something. */
  begin(prompt: string): void {
    const { session, noteInput } = this.parts.opened();
    noteInput(prompt);
    this.commands?.forgetList();
    const { transcript } = this;
    void this.work.begin("run", (signal) =>
      runPrompt(session, prompt, { signal, show: (event) => transcript.show(event) }),
    );
  }

  /** Sends a prompt into the run that is going on. */
  steer(prompt: string): void {
    this.parts.opened().session.steer(prompt);
  }

  /** Begins a slash command. */
  beginCommand(line: string): void {
    void this.work.begin("command", async () => (await this.openCommands()).run(line));
  }

  /** Begins a command of the user's own. @param typed the whole line, for the input history. */
  beginShell(line: ShellLine, typed: string): void {
    const opened = this.parts.opened();
    opened.noteInput(typed);
    void this.work.begin("shell", async (signal) => {
      const result = await runShellLine(line, opened, { signal });
      this.line(result.output);
      await tellOfShellLine(line, result, opened);
    });
  }

  /** The slash commands, which are loaded with the first of them. */
  async openCommands(): Promise<PlainCommands> {
    const { PlainCommands } = await import("./plain-commands.ts");
    this.commands ??= new PlainCommands({
      ...this.parts,
      signal: () => this.work.signal ?? new AbortController().signal,
      line: (text) => this.line(text),
      show: (event) => this.transcript.show(event),
    });
    return this.commands;
  }

  /** Stops what is going on, and resolves when it has ended. */
  async interrupt(): Promise<void> {
    const stopped = this.work.stop();
    this.approvals.give(undefined);
    await stopped;
  }

  /** Asks for the next line; nothing while something goes on. */
  showPrompt(): void {
    if (this.doing === undefined) this.output.write(PROMPT);
  }

  /** Shows what nobody has asked for, once nothing goes on: it is written into no open question. */
  tell(text: string): void {
    if (this.doing !== undefined) {
      this.held.push(text);
      return;
    }
    // What is being typed at the prompt is left above it.
    this.output.write("\n");
    this.line(text);
    this.showPrompt();
  }

  /** Shows a line of its own. */
  line(text: string): void {
    this.transcript.line(text);
  }

  /** Says what went wrong. */
  fail(error: unknown): void {
    this.line(`error: ${describeError(error)}`);
  }
}
