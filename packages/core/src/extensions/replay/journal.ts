import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { JsonlWriter } from "../../infrastructure/fs/jsonl-writer.ts";
import type { Redactor } from "../../tool/types.ts";
import { EventHashes } from "./event-hash.ts";
import { MAX_RECORD_BYTES, type RecordLine } from "./record-line.ts";

/** Where the lines of a record go, and who is told when they no longer do. */
interface JournalOptions {
  /** Absolute. */
  path: string;
  redactor: Redactor;
  /** By default `MAX_RECORD_BYTES`. */
  maxBytes?: number | undefined;
  /** Called once, with a sentence for the user. */
  onStop(message: string): void;
}

/**
 * Writes the record of one session. The lines of one moment are written together, so that a stream of small pieces costs
 * few writes; what a killed process had not written yet is at most one such moment.
 */
export class Journal {
  private readonly file: JsonlWriter;
  private readonly hashes = new EventHashes();
  /** The last value of each observed state, as JSON. */
  private readonly states = new Map<string, string | undefined>();
  private waiting: RecordLine[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private bytes: number;
  private isOver = false;
  private calls = 0;

  constructor(private readonly options: JournalOptions) {
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    this.file = new JsonlWriter(options.path);
    this.bytes = statSync(options.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** False once nothing is recorded any more. */
  get isOpen(): boolean {
    return !this.isOver;
  }

  /** The number of the next call of the opening. */
  nextCall(): number {
    this.calls++;
    return this.calls;
  }

  write(line: RecordLine): void {
    if (this.isOver) return;
    if (line.t === "out") this.hashes.add(line.h);
    this.waiting.push(redactLine(line, this.options.redactor));
    this.timer ??= setTimeout(() => this.flush(), 0);
  }

  /** Writes an answer that the session gets at once, and returns it. */
  get<T>(name: string, value: T): T {
    this.write({ t: "get", f: name, v: value });
    return value;
  }

  /** Writes a value that the session reads, if it differs from the last one, and returns it. */
  set<T>(key: string, value: T): T {
    const json = JSON.stringify(value);
    if (this.states.has(key) && this.states.get(key) === json) return value;
    this.states.set(key, json);
    this.write({ t: "set", k: key, v: value });
    return value;
  }

  /**
   * Writes a call of the session, and its answer once `work` has it; `work` gets the call's number.
   * @param digest of what is asked for, where several such calls can run side by side.
   */
  async call<T>(name: string, work: (call: number) => Promise<T>, digest?: string): Promise<T> {
    const n = this.nextCall();
    this.write({ t: "call", n, f: name, ...(digest !== undefined && { k: digest }) });
    try {
      const v = await work(n);
      this.write({ t: "ret", n, v });
      return v;
    } catch (error) {
      this.write({ t: "ret", n, e: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  /** Records no more; the rest of the session cannot be replayed. @param why a clause. */
  stop(why: string): void {
    if (this.isOver) return;
    this.write({ t: "stop", why });
    this.flush();
    this.end();
  }

  close(): void {
    if (this.isOver) return;
    this.write({ t: "end", h: this.hashes.digest(), events: this.hashes.count });
    this.flush();
    this.end();
  }

  /** Writes what has not been written yet. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const lines = this.waiting;
    this.waiting = [];
    if (this.isOver || lines.length === 0) return;
    try {
      const { maxBytes = MAX_RECORD_BYTES } = this.options;
      const fitting = lines.filter((line) => {
        this.bytes += Buffer.byteLength(JSON.stringify(line)) + 1;
        return this.bytes <= maxBytes;
      });
      this.append(fitting);
      if (fitting.length < lines.length) this.giveUp(`it has reached ${maxBytes} bytes`);
    } catch (error) {
      this.fail(error);
    }
  }

  private append(lines: readonly RecordLine[]): void {
    const written = this.file.append(...lines);
    if (written < lines.length) throw new Error("the disk is full");
  }

  private giveUp(why: string): void {
    this.append([{ t: "stop", why }]);
    this.end();
    this.options.onStop(`The record of this session ends here: ${why}. The session itself continues.`);
  }

  private fail(error: unknown): void {
    this.end();
    const reason = error instanceof Error ? error.message : String(error);
    this.options.onStop(`This session is not recorded any more: ${reason}`);
  }

  private end(): void {
    this.isOver = true;
    this.file.close();
  }
}

/** Every text of a line as the session shows it; hashes are no secrets. */
function redactLine(line: RecordLine, redactor: Redactor): RecordLine {
  switch (line.t) {
    case "out":
    case "end":
      return line;
    case "call":
      return { ...line, f: redactor.redact(line.f) };
    case "cb":
      return { ...line, f: redactor.redact(line.f), a: redactArgument(line, redactor) };
    default:
      return redactor.redact(line);
  }
}

/** An update is unfinished: the session holds back its end while that may be the beginning of a secret. */
function redactArgument({ f, a }: { f: string; a?: unknown }, redactor: Redactor): unknown {
  return f === "update" && typeof a === "string" ? redactor.redactPart(a) : redactor.redact(a);
}
