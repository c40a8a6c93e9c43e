import type { AskPerson, AskUser, PersonAnswer, UserQuestion } from "@diligent/core/harness";
import { STOPPED_ANSWER } from "@diligent/core/harness";
import { type InputLine, parseInputLine } from "@diligent/core/protocol";
import type { AgentEvent, ContentBlock } from "@diligent/core/run";

/** The content of a prompt. */
export type PromptContent = string | ContentBlock[];

/** One prompt of the input. */
export interface StreamedPrompt {
  content: PromptContent;
  /** Aborted when the program interrupts this prompt. */
  signal: AbortSignal;
}

/** The conversation that the lines are for. */
interface StreamUsers {
  /** Writes one line of the output. */
  write(line: object): void;
  /** Sends a message into the active run. @returns the id of its `steering` event. */
  steer(content: PromptContent): string;
  /** Withdraws the messages that have not joined the run. */
  takeBack(): void;
}

interface WaitingPrompt {
  content: PromptContent;
  controller: AbortController;
}

type ReadChunk = () => Promise<{ done: boolean; value?: Uint8Array | undefined }>;

const MAX_LINE_MEGABYTES = 10;
const MAX_LINE_BYTES = MAX_LINE_MEGABYTES * 1024 * 1024;
const LINE_FEED = 0x0a;

const NO_ANSWER: PersonAnswer = {
  response: "reject",
  unattended: true,
  message: "Refused: this needs an approval, and the input ended without an answer.",
};

/**
 * The input of a program that speaks stream-json: its prompts, and its answers to questions. A line that cannot be
 * read, or that does not fit the state of the conversation, is answered with `input_error` and changes nothing.
 */
export class StreamInput {
  private readonly waiting: WaitingPrompt[] = [];
  /** The prompt that is being answered. */
  private running: WaitingPrompt | undefined;
  private readonly approvals = new Map<string, (answer: PersonAnswer) => void>();
  private readonly questions = new Map<string, (answers: string[][] | undefined) => void>();
  /** Messages that have not joined the run, by the ids of their events. */
  private readonly steered = new Map<string, PromptContent>();
  private asked = 0;
  private hasEnded = false;
  private wake: (() => void) | undefined;
  private users: StreamUsers | undefined;
  private close: (() => void) | undefined;

  /** Reads the lines from now on. */
  start(stream: ReadableStream<Uint8Array>, users: StreamUsers): void {
    this.users = users;
    const reader = stream.getReader();
    // Not awaited: closing silent input may take long.
    this.close = () => void reader.cancel().catch(() => {});
    void this.readAll(() => reader.read());
  }

  /** A prompt that was given in another way, before the first line. */
  add(content: PromptContent): void {
    this.waiting.push({ content, controller: new AbortController() });
    this.wake?.();
  }

  /** The prompts in order; it ends with the input, or with `stop`. */
  async *prompts(stop: AbortSignal): AsyncGenerator<StreamedPrompt> {
    const onStop = () => this.wake?.();
    stop.addEventListener("abort", onStop);
    try {
      while (!stop.aborted) {
        this.running = this.waiting.shift();
        const { running } = this;
        if (running) {
          yield { content: running.content, signal: running.controller.signal };
          this.running = undefined;
          this.rejectOpen();
        } else if (this.hasEnded) return;
        else await this.change();
      }
    } finally {
      stop.removeEventListener("abort", onStop);
      this.running = undefined;
      this.rejectOpen();
      this.close?.();
    }
  }

  /** Follows the run: what comes too late to join it is the next prompt. */
  noteEvent(event: AgentEvent): void {
    if (event.type === "steering" && event.id !== undefined) this.steered.delete(event.id);
    if (event.type !== "status_change" || event.status !== "idle" || this.steered.size === 0) return;
    this.users?.takeBack();
    const late = [...this.steered.values()].map((content) => ({
      content,
      controller: new AbortController(),
    }));
    this.steered.clear();
    this.waiting.unshift(...late);
  }

  /** See `AskPerson`: the answer is a line with the same `requestId`. */
  readonly ask: AskPerson = (_request, _verdict, { requestId }) => {
    if (this.hasEnded) return Promise.resolve(NO_ANSWER);
    if (this.running?.controller.signal.aborted) return Promise.resolve(STOPPED_ANSWER);
    return new Promise((resolve) => this.approvals.set(requestId, resolve));
  };

  /** See `AskUser`: it writes a line of type `question`. */
  readonly askUser: AskUser = (questions: readonly UserQuestion[], { signal }) => {
    if (this.hasEnded || signal.aborted) return Promise.resolve(undefined);
    this.asked += 1;
    const requestId = `question-${this.asked}`;
    this.users?.write({ type: "question", requestId, questions });
    return new Promise((resolve) => this.questions.set(requestId, resolve));
  };

  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined;
        resolve();
      };
    });
  }

  private async readAll(read: ReadChunk): Promise<void> {
    let problem: unknown;
    try {
      await this.readLines(read);
    } catch (error) {
      problem = error;
    }
    if (problem !== undefined) this.report(`the input cannot be read: ${String(problem)}`);
    this.hasEnded = true;
    for (const resolve of this.approvals.values()) resolve(NO_ANSWER);
    for (const resolve of this.questions.values()) resolve(undefined);
    this.approvals.clear();
    this.questions.clear();
    this.wake?.();
  }

  private async readLines(read: ReadChunk): Promise<void> {
    let parts: Uint8Array[] = [];
    let bytes = 0;
    const add = (part: Uint8Array) => {
      bytes += part.length;
      if (bytes <= MAX_LINE_BYTES) parts.push(part);
      else parts = [];
    };
    const end = async () => {
      const line = bytes > MAX_LINE_BYTES ? undefined : Buffer.concat(parts);
      parts = [];
      bytes = 0;
      await this.takeLine(line);
    };
    for (let chunk = await read(); !chunk.done; chunk = await read()) {
      let rest = chunk.value ?? new Uint8Array();
      for (let at = rest.indexOf(LINE_FEED); at >= 0; at = rest.indexOf(LINE_FEED)) {
        add(rest.subarray(0, at));
        await end();
        rest = rest.subarray(at + 1);
      }
      add(rest);
    }
    if (bytes > 0) await end();
  }

  /** @param bytes undefined for a line that is too long. */
  private async takeLine(bytes: Uint8Array | undefined): Promise<void> {
    if (!bytes) return this.report(`a line is longer than ${MAX_LINE_MEGABYTES} MB`);
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      return this.report("a line is not valid UTF-8");
    }
    if (text.trim() === "") return;
    const parsed = parseInputLine(text);
    if ("problem" in parsed) return this.report(parsed.problem);
    await this.take(parsed.line);
  }

  private async take(line: InputLine): Promise<void> {
    switch (line.type) {
      case "user":
      case "steer": {
        const content = await toContent(line.content);
        if ("problem" in content) return this.report(content.problem);
        const isRunning = this.running !== undefined && !this.running.controller.signal.aborted;
        if (line.type === "steer" && isRunning && this.users)
          this.steered.set(this.users.steer(content.content), content.content);
        else this.add(content.content);
        return;
      }
      case "interrupt":
        return this.interrupt();
      case "approval": {
        const { requestId, answer, reason } = line;
        const message = reason === undefined ? "The user denied this." : `The user denied this: ${reason}`;
        const decision = answer === "reject" ? { response: answer, message } : { response: answer };
        return this.answer(this.approvals, requestId, decision);
      }
      case "answer":
        return this.answer(this.questions, line.requestId, line.answers);
    }
  }

  private answer<T>(open: Map<string, (answer: T) => void>, requestId: string, answer: T): void {
    const resolve = open.get(requestId);
    if (!resolve) {
      this.report(`requestId: nothing with the id ${JSON.stringify(requestId)} is waiting`);
      return;
    }
    open.delete(requestId);
    resolve(answer);
  }

  private interrupt(): void {
    (this.running ?? this.waiting[0])?.controller.abort();
    this.rejectOpen();
  }

  private rejectOpen(): void {
    for (const resolve of this.approvals.values()) resolve(STOPPED_ANSWER);
    for (const resolve of this.questions.values()) resolve(undefined);
    this.approvals.clear();
    this.questions.clear();
  }

  private report(message: string): void {
    this.users?.write({ type: "input_error", message });
  }
}

type Content = { content: PromptContent } | { problem: string };

async function toContent(given: Extract<InputLine, { type: "user" }>["content"]): Promise<Content> {
  const isEmpty =
    typeof given === "string"
      ? given.trim() === ""
      : given.every((block) => block.type === "text" && block.text.trim() === "");
  if (isEmpty) return { problem: "content: the prompt is empty" };
  if (typeof given === "string") return { content: given };
  const blocks: ContentBlock[] = [];
  for (const [index, block] of given.entries()) {
    if (block.type === "text") {
      if (block.text.trim() !== "") blocks.push(block);
      continue;
    }
    const image = await toImage(block.source.data);
    if (typeof image === "string") return { problem: `content.${index}: ${image}` };
    blocks.push(image);
  }
  return { content: blocks };
}

/** @returns the reason as a clause if the data is not an image that a model accepts. */
async function toImage(data: string): Promise<ContentBlock | string> {
  const { readPromptImage } = await import("@diligent/core/interactive");
  try {
    const read = await readPromptImage("of the input", Buffer.from(data, "base64"));
    return read?.image ?? "the data is not a PNG, JPEG, GIF or WebP image";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
