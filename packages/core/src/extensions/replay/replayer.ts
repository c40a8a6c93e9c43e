import type { z } from "zod";
import type { AgentEvent } from "../../agent/types.ts";
import { EventHashes, hashEvent } from "./event-hash.ts";
import type { NumberedLine, RecordedOpening } from "./record-line.ts";

/** Where a replay differs from its record. */
export interface ReplayDifference {
  /** The line of the record, from 1. */
  line: number;
  /** The number of the event among those of the opening, from 1: the one that differs, or the next one. */
  event: number;
  /** What the record says, and what happened, as clauses. */
  recorded: string;
  replayed: string;
  /** The event that differs. */
  actual?: AgentEvent | undefined;
}

/** What a recorded call does with its session before it is answered. */
export interface CallHandlers {
  event?(event: unknown): void;
  callback?(name: string, given: unknown): void;
}

interface OpenCall extends CallHandlers {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A call of the session from outside. */
export interface RecordedDeed {
  name: string;
  given: unknown;
  /** Distinguishes those that can be aborted. */
  number: number | undefined;
}

// What needs an idle session waits for what the line before it has started.
const NEEDS_IDLE: ReadonlySet<string> = new Set([
  ...["run", "compact", "useModel", "branch", "undoCompaction", "leave"],
  ...["describeContext", "previewCompaction"],
]);

// Calls of one reply are a few dozen at most.
const MOST_AHEAD = 200;

// Longer than anything in a session that waits for a clock.
const STALL_MS = 5_000;

/**
 * Gives a session what its record says, in that order, and compares what it does. What the session does is expected at the
 * current line; what happens to it is delivered as soon as its line is reached.
 */
export class Replayer {
  private readonly lines: readonly NumberedLine[];
  private readonly hashes = new EventHashes();
  private readonly states = new Map<string, unknown>();
  private readonly calls = new Map<number, OpenCall>();
  private readonly ended = Promise.withResolvers<ReplayDifference | undefined>();
  private at = 0;
  /** The positions of lines ahead that have happened already. */
  private readonly taken = new Set<number>();
  private isDelivering = false;
  private isOver = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wake: ReturnType<typeof setTimeout> | undefined;

  /** @param perform does with the session what was done with it. */
  constructor(
    private readonly recorded: RecordedOpening,
    private readonly perform: (deed: RecordedDeed) => void,
  ) {
    this.lines = recorded.lines;
  }

  /** The number of events so far, and the hash of all of them. */
  get summary(): { events: number; hash: string } {
    return { events: this.hashes.count, hash: this.hashes.digest() };
  }

  /** Resolves at the end of the record, or where the session does something else than in the record. */
  run(): Promise<ReplayDifference | undefined> {
    this.deliver();
    return this.ended.promise;
  }

  /** An event of the session. */
  emit(event: AgentEvent): void {
    const hash = hashEvent(event);
    if (!this.expect()) return;
    const at = this.findEvent();
    const line = this.lines[at]?.line;
    if (line?.t !== "out" || line.e !== event.type || line.h !== hash) {
      this.part(describeEvent(event.type, hash), event);
      return;
    }
    this.hashes.add(hash);
    this.taken.add(at);
    this.deliver();
  }

  /** An answer that the session gets at once; `otherwise` where the record has none: the replay has ended then. */
  get<T>(name: string, schema: z.ZodType<T>, otherwise: T): T {
    const line = this.take((each) => each.t === "get" && each.f === name);
    if (line?.t !== "get") {
      this.part(`a request for ${name}`);
      return otherwise;
    }
    const value = this.read(schema, line.v, otherwise);
    this.deliver();
    return value;
  }

  /** A value that the session reads at any time. */
  state<T>(key: string, schema: z.ZodType<T>, otherwise: T): T {
    return this.states.has(key) ? this.read(schema, this.states.get(key), otherwise) : otherwise;
  }

  /**
   * An answer that arrives later; it never arrives where the record has none.
   * @param digest of what is asked for, if it was recorded.
   */
  async call<T>(
    name: string,
    schema: z.ZodType<T>,
    { digest, ...handlers }: CallHandlers & { digest?: string | undefined } = {},
  ): Promise<T> {
    const line = this.take((each) => each.t === "call" && each.f === name && each.k === digest);
    if (line?.t !== "call") {
      this.part(describeCall(name, digest));
      return NEVER;
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    // A failure is seen by what awaits it.
    promise.catch(() => {});
    this.calls.set(line.n, { ...handlers, resolve, reject });
    // Who calls is ready for the answer only afterwards.
    queueMicrotask(() => this.deliver());
    return this.read(schema, await promise, NEVER);
  }

  /** Reads a value of the record. */
  read<T, Otherwise>(schema: z.ZodType<T>, value: unknown, otherwise: Otherwise): T | Otherwise {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    this.part("a value that cannot be used");
    return otherwise;
  }

  /** The current line, once everything before it has happened; undefined at the end. */
  private expect(): NumberedLine["line"] | undefined {
    while (!this.isOver && isInput(this.current)) this.deliverNext();
    const line = this.isOver ? undefined : this.current;
    // A record without its end is that of a killed process: nothing is known of what followed.
    if (line === undefined || line.t === "stop") this.finish(undefined);
    return line;
  }

  /** The next line that has not happened yet. */
  private get current(): NumberedLine["line"] | undefined {
    while (this.taken.delete(this.at)) this.at++;
    return this.lines[this.at]?.line;
  }

  /**
   * The line of what the session asks for. Calls that run side by side ask in an order of their own, so it may be one of
   * the next; the order of the events is always the same.
   */
  private take(matches: (line: NumberedLine["line"]) => boolean): NumberedLine["line"] | undefined {
    const line = this.expect();
    if (line === undefined) return undefined;
    if (matches(line)) {
      this.at++;
      return line;
    }
    for (let at = this.at + 1; at <= this.at + MOST_AHEAD; at++) {
      const later = this.lines[at]?.line;
      if (later === undefined || this.taken.has(at) || !matches(later)) continue;
      this.taken.add(at);
      return later;
    }
    return undefined;
  }

  /** The position of the next event, which may come before a call that runs beside it asks for something. */
  private findEvent(): number {
    for (let at = this.at; ; at++) {
      const line = this.lines[at]?.line;
      if (!this.taken.has(at) && line?.t !== "get" && line?.t !== "call") return at;
    }
  }

  /** Delivers what happens next to the session, up to what it does next itself. */
  private deliver(): void {
    if (this.isDelivering || this.isOver) return;
    this.isDelivering = true;
    clearTimeout(this.wake);
    try {
      for (;;) {
        const line = this.current;
        if (!isInput(line)) break;
        if (line.t === "do" && NEEDS_IDLE.has(line.f)) {
          this.wake = setTimeout(() => this.deliverIdle(), 0);
          break;
        }
        this.deliverNext();
      }
    } finally {
      this.isDelivering = false;
    }
    this.watch();
  }

  private deliverIdle(): void {
    if (this.isOver) return;
    if (isInput(this.current)) this.deliverNext();
    this.deliver();
  }

  private deliverNext(): void {
    const line = this.current;
    this.at++;
    if (line?.t === "set") this.states.set(line.k, line.v);
    else if (line?.t === "ev") this.calls.get(line.n)?.event?.(line.v);
    else if (line?.t === "cb") this.calls.get(line.n)?.callback?.(line.f, line.a);
    else if (line?.t === "do") this.perform({ name: line.f, given: line.a, number: line.n });
    else if (line?.t === "ret" && line.e === undefined) this.calls.get(line.n)?.resolve(line.v);
    else if (line?.t === "ret") this.calls.get(line.n)?.reject(new Error(line.e));
  }

  /** Ends at the end of the record; otherwise the session has to do something within a while. */
  private watch(): void {
    clearTimeout(this.timer);
    if (this.isOver) return;
    const line = this.current;
    if (line === undefined || line.t === "stop") {
      this.finish(undefined);
      return;
    }
    // What the session still does at its end is an event too many.
    const isEnd = line.t === "end";
    this.timer = setTimeout(
      () => (isEnd ? this.checkEnd(line.h) : this.part("nothing")),
      isEnd ? 20 : STALL_MS,
    );
  }

  private checkEnd(hash: string): void {
    if (hash === this.hashes.digest()) this.finish(undefined);
    else this.part(`events with the hash ${this.hashes.digest()}`);
  }

  private part(replayed: string, actual?: AgentEvent): void {
    const { number, line } = this.lines[this.at] ?? { number: this.recorded.number, line: undefined };
    const event = this.hashes.count + 1;
    this.finish({ line: number, event, recorded: describeLine(line), replayed, ...(actual && { actual }) });
  }

  private finish(difference: ReplayDifference | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    clearTimeout(this.wake);
    this.ended.resolve(difference);
  }
}

function isInput(
  line: NumberedLine["line"] | undefined,
): line is Extract<NumberedLine["line"], { t: "set" | "ev" | "cb" | "ret" | "do" }> {
  return line !== undefined && ["set", "ev", "cb", "ret", "do"].includes(line.t);
}

// What waits for it has no effect any more.
const NEVER = new Promise<never>(() => {});

function describeCall(name: string, digest: string | undefined): string {
  return digest === undefined ? `a call of ${name}` : `a call of ${name} with ${digest}`;
}

function describeEvent(type: string, hash: string): string {
  return `the event ${type} ${hash}`;
}

function describeLine(line: NumberedLine["line"] | undefined): string {
  switch (line?.t) {
    case "out":
      return describeEvent(line.e, line.h);
    case "call":
      return describeCall(line.f, line.k);
    case "get":
      return `a request for ${line.f}`;
    case "end":
      return `the end, after ${line.events} events with the hash ${line.h}`;
    case undefined:
      return "the end of the record";
    default:
      return "something that happens to the session";
  }
}
