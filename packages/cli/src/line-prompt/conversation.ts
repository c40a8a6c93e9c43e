import { type AgentEvent, type ApprovalRequest, type ApprovalVerdict, now } from "@diligent/core/run";
import type { AskPerson, PersonAnswer } from "../approval.ts";
import type { CliOutput } from "../cli-io.ts";
import type { OpenSession } from "../open-session.ts";
import { formatHint, formatQuestion, parseAnswer } from "./question.ts";
import { describeCommands, readInputLine } from "./read-input-line.ts";
import { Transcript } from "./transcript.ts";

const PROMPT = "diligent> ";

/**
 * A conversation by lines. A line answers the question that is open, else joins the run that is going on, else is the
 * next prompt.
 */
export class Conversation {
  private readonly transcript: Transcript;
  private run: { abort: AbortController; ended: Promise<void> } | undefined;
  private isCompacting = false;
  /** Lines for when the work that is going on has ended. */
  private readonly waiting: string[] = [];
  private answer: ((line: string | undefined) => void) | undefined;
  private lastQuestion: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly output: CliOutput,
    private readonly opened: () => OpenSession,
  ) {
    this.transcript = new Transcript(output);
  }

  get isRunning(): boolean {
    return this.run !== undefined;
  }

  get isInterrupted(): boolean {
    return this.run?.abort.signal.aborted ?? false;
  }

  /** One question after the other, also when several calls ask at once. */
  readonly ask: AskPerson = (request, verdict) => {
    const question = this.lastQuestion.then(() => this.askNow(request, verdict));
    this.lastQuestion = question;
    return question;
  };

  takeLine(line: string): void {
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
      case "compact":
        if (this.run) this.waiting.push(line);
        else this.compact(input.focus);
        return;
      case "quit":
        this.say("/quit leaves at the prompt; Ctrl+C stops what is going on.");
        return;
      case "unknown":
        this.say(describeCommands(input.command));
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

  private takePrompt(line: string, text: string): void {
    if (this.run && this.isCompacting) this.waiting.push(line);
    else if (this.run) this.opened().session.steer(text);
    else this.start(text);
  }

  private say(text: string): void {
    this.line(text);
    this.showPrompt();
  }

  private start(prompt: string): void {
    const message = { role: "user" as const, content: prompt, timestamp: now() };
    const { session, noteInput } = this.opened();
    noteInput(prompt);
    this.occupy(async (signal) => {
      await session.run(message, { signal }).consume((event) => this.transcript.show(event));
    });
  }

  private compact(focus: string): void {
    this.isCompacting = true;
    this.occupy(async (signal) => {
      const { session } = this.opened();
      const emit = (event: AgentEvent) => this.transcript.show(event);
      const { kind } = await session.compact({ focus: focus || undefined, signal, emit });
      if (kind === "nothing") this.line("There is nothing to summarise yet.");
      if (kind === "aborted") this.line("Stopped: the session is as it was.");
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
      this.transcript.line(`error: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.run = undefined;
      this.isCompacting = false;
      this.showPrompt();
      for (const line of this.waiting.splice(0)) this.takeLine(line);
    }
  }

  private async askNow(request: ApprovalRequest, verdict: ApprovalVerdict): Promise<PersonAnswer> {
    this.transcript.line(undefined);
    for (let hint = ""; !this.isInterrupted; hint = `${formatHint(verdict)}\n`) {
      this.output.write(`\n${hint}${formatQuestion(request, verdict)}`);
      const answer = await this.nextAnswer();
      const decision = answer === undefined ? undefined : parseAnswer(answer, verdict);
      if (decision !== undefined) return decision;
    }
    return { response: "reject", message: "The user stopped the run.", endTurn: true };
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
