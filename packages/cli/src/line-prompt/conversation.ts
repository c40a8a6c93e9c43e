import { type ApprovalRequest, now } from "@diligent/core/run";
import type { AskPerson, CommandEdit } from "../approval.ts";
import type { CliOutput } from "../cli-io.ts";
import { describeError } from "../describe-error.ts";
import { judgedCommand } from "../judged-request.ts";
import { NO_COMMAND, type ShellLine } from "../shell-line/read-shell-line.ts";
import { runShellLine, tellOfShellLine } from "../shell-line/run-shell-line.ts";
import { writeLine } from "../write-line.ts";
import type { PlainCommands } from "./plain-commands.ts";
import type { PlainContextParts } from "./plain-context.ts";
import { formatEditQuestion, formatHint, formatQuestion, parseAnswer, wantsEdit } from "./question.ts";
import { readInputLine } from "./read-input-line.ts";
import { Transcript } from "./transcript.ts";

const PROMPT = "diligent> ";

/** The session that is talked to, how it is exchanged for another one, and how the program is left. */
export type ConversationParts = Pick<PlainContextParts, "opened" | "reopen" | "environment" | "quit">;

/**
 * A conversation by lines. A line answers the question that is open, else joins the run that is going on, else is the
 * next prompt.
 */
export class Conversation {
  private readonly transcript: Transcript;
  private run: { abort: AbortController; ended: Promise<void> } | undefined;
  /** True while what goes on is no run of the model's, which a prompt could join. */
  private isOther = false;
  /** Lines for when the work that is going on has ended. */
  private readonly waiting: string[] = [];
  private commands: PlainCommands | undefined;
  /** Somebody was told that a second Ctrl+C leaves. */
  private isWarned = false;
  private answer: ((line: string | undefined) => void) | undefined;

  constructor(
    private readonly output: CliOutput,
    private readonly parts: ConversationParts,
  ) {
    this.transcript = new Transcript(output);
  }

  get isRunning(): boolean {
    return this.run !== undefined;
  }

  get isInterrupted(): boolean {
    return this.run?.abort.signal.aborted ?? false;
  }

  /** A question at a time: `createApprove` asks the next when this one is answered. */
  readonly ask: AskPerson = async (request, verdict) => {
    this.transcript.line(undefined);
    for (let hint = ""; !this.isInterrupted; hint = `${formatHint(request, verdict)}\n`) {
      this.output.write(`\n${hint}${formatQuestion(request, verdict)}`);
      const answer = await this.nextAnswer();
      if (answer !== undefined && wantsEdit(answer, request, verdict)) return this.askForCommand(request);
      const decision = answer === undefined ? undefined : parseAnswer(answer, verdict);
      if (decision !== undefined) return decision;
    }
    return { response: "reject", message: "The user stopped the run.", endTurn: true };
  };

  /** What is written is put to the user again as a whole; a terminal that is read by lines cannot have it there to edit. */
  private async askForCommand(request: ApprovalRequest): Promise<CommandEdit> {
    const before = judgedCommand(request) ?? "";
    this.output.write(formatEditQuestion(before));
    const line = await this.nextAnswer();
    return { edited: line === undefined || line.trim() === "" ? before : line };
  }

  /** A prompt of the command line: what somebody else may have written is no command for the shell. */
  begin(prompt: string): void {
    if (readInputLine(prompt).kind === "shell") this.takePrompt(prompt, prompt);
    else this.takeLine(prompt);
  }

  takeLine(line: string): void {
    this.isWarned = false;
    if (this.answer) {
      this.answer(line);
      return;
    }
    const input = readInputLine(line);
    switch (input.kind) {
      case "empty":
        this.showPrompt();
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
        this.say("/quit leaves at the prompt; Ctrl+C stops what is going on.");
    }
  }

  showPrompt(): void {
    if (!this.run) this.output.write(PROMPT);
  }

  line(text: string): void {
    this.transcript.line(text);
  }

  /** Stops the run that is going on, and resolves when it has ended. */
  async interrupt(): Promise<void> {
    this.run?.abort.abort();
    this.answer?.(undefined);
    await this.run?.ended;
  }

  /** Says that a second Ctrl+C leaves; false where that was said, and nothing was typed since. */
  warnOfLeaving(): boolean {
    if (this.isWarned) return false;
    this.isWarned = true;
    this.output.write("\n");
    this.say("Press Ctrl+C again to leave.");
    return true;
  }

  private takePrompt(line: string, text: string): void {
    if (this.run && this.isOther) this.waiting.push(line);
    else if (this.run) this.parts.opened().session.steer(text);
    else this.start(text);
  }

  private say(text: string): void {
    this.line(text);
    this.showPrompt();
  }

  private start(prompt: string): void {
    const message = { role: "user" as const, content: prompt, timestamp: now() };
    const { session, noteInput } = this.parts.opened();
    noteInput(prompt);
    this.commands?.forgetList();
    this.occupy(async (signal) => {
      await session.run(message, { signal }).consume((event) => this.transcript.show(event));
    });
  }

  private takeCommand(line: string): void {
    if (this.run && this.isOther) this.waiting.push(line);
    else if (this.run) void this.takeCommandBesideRun(line);
    else {
      this.isOther = true;
      this.occupy(async () => (await this.openCommands()).run(line));
    }
  }

  /** What is forbidden, for instance, counts at once; what changes the conversation waits for the end of the run. */
  private async takeCommandBesideRun(line: string): Promise<void> {
    const commands = await this.openCommands();
    if (!this.run) this.takeLine(line);
    else if (!commands.isAlwaysPossible(line)) this.waiting.push(line);
    else await commands.run(line).catch((error: unknown) => this.line(`error: ${describeError(error)}`));
  }

  /** They are loaded with the first of them. */
  private async openCommands(): Promise<PlainCommands> {
    const { PlainCommands } = await import("./plain-commands.ts");
    this.commands ??= new PlainCommands({
      ...this.parts,
      signal: () => this.run?.abort.signal ?? new AbortController().signal,
      line: (text) => this.line(text),
      show: (event) => this.transcript.show(event),
      send: (text) => this.takePrompt(text.startsWith("/") ? `/${text}` : text, text),
    });
    return this.commands;
  }

  private takeShell(typed: string, line: ShellLine): void {
    if (line.command === "") this.say(NO_COMMAND);
    else if (this.run) this.waiting.push(typed);
    else this.runShell(typed, line);
  }

  private runShell(typed: string, line: ShellLine): void {
    const opened = this.parts.opened();
    opened.noteInput(typed);
    this.isOther = true;
    this.occupy(async (signal) => {
      const result = await runShellLine(line, opened, { signal });
      this.line(result.output);
      await tellOfShellLine(line, result, opened);
    });
  }

  private occupy(work: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.run = { abort, ended: ended.promise };
    void this.workToEnd(() => work(abort.signal)).then(ended.resolve);
  }

  private async workToEnd(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.transcript.line(`error: ${describeError(error)}`);
    } finally {
      this.run = undefined;
      this.isOther = false;
      this.showPrompt();
      for (const line of this.waiting.splice(0)) this.takeWaiting(line);
    }
  }

  /** It was typed among other things: what comes of it stands below it once more. */
  private takeWaiting(line: string): void {
    if (!this.run) writeLine(this.output, line);
    this.takeLine(line);
  }

  private nextAnswer(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.answer = (line) => {
        this.answer = undefined;
        resolve(line);
      };
    });
  }
}
