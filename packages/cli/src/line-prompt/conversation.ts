import { type ApprovalRequest, type ApprovalVerdict, now } from "@diligent/core/run";
import type { AskPerson, PersonAnswer } from "../approval.ts";
import type { CliOutput } from "../cli-io.ts";
import type { OpenSession } from "../open-session.ts";
import { formatHint, formatQuestion, parseAnswer } from "./question.ts";
import { Transcript } from "./transcript.ts";

const PROMPT = "diligent> ";

/**
 * A conversation by lines. A line answers the question that is open, else joins the run that is going on, else is the
 * next prompt.
 */
export class Conversation {
  private readonly transcript: Transcript;
  private run: { abort: AbortController; ended: Promise<void> } | undefined;
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
    if (this.answer) this.answer(line);
    else if (line.trim() === "") this.showPrompt();
    else if (this.run) this.opened().session.steer(line);
    else this.start(line);
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

  private start(prompt: string): void {
    const abort = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.run = { abort, ended: ended.promise };
    void this.runToEnd(prompt, abort.signal).then(ended.resolve);
  }

  private async runToEnd(prompt: string, signal: AbortSignal): Promise<void> {
    const message = { role: "user" as const, content: prompt, timestamp: now() };
    const { session, noteInput } = this.opened();
    noteInput(prompt);
    try {
      await session.run(message, { signal }).consume((event) => this.transcript.show(event));
    } catch (error) {
      this.transcript.line(`error: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.run = undefined;
      this.showPrompt();
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
