import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { ByteRing } from "../../infrastructure/process/byte-ring.ts";
import {
  type ChildProcess,
  type ProcessOptions,
  startProcess,
} from "../../infrastructure/process/process.ts";
import { StdoutMessages } from "./stdout-messages.ts";

/** A server's program, ready to be started. */
export interface ServerProgram
  extends Pick<
    ProcessOptions,
    "argv" | "cwd" | "environment" | "report" | "processTable" | "inheritedFiles"
  > {
  /** Called once it has ended. */
  release?(gone: Promise<unknown>): Promise<void>;
}

// What is kept of a server's stderr; the newest part explains a failure.
const MAX_LOG_BYTES = 1024 * 1024;

/** How long a server may take to end by itself once its stdin is closed. */
const CLOSE_GRACE_MS = 400;

/**
 * Runs a server and exchanges messages with it over its stdin and stdout. Other lines on stdout are ignored, stderr is
 * always read. `close` ends everything that the server has started, also behind a wrapper.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  private child: ChildProcess | undefined;
  private isClosed = false;
  private closing: Promise<void> | undefined;

  /** @param log receives its stderr, and the lines of its stdout that are no messages. */
  constructor(
    private readonly program: ServerProgram,
    private readonly log: ByteRing,
  ) {}

  /** @throws Error when the program cannot be started. */
  async start(): Promise<void> {
    const { release: _, ...program } = this.program;
    const child = await startProcess({ ...program, hasInput: true, hasSeparateOutputs: true });
    this.child = child;
    const [stdout, stderr] = child.outputs;
    const messages = new StdoutMessages({
      onMessage: (message) => this.onmessage?.(message),
      onOther: (line) => this.log.write(line),
    });
    const isRead = this.read(stdout, (chunk) => messages.write(chunk));
    const isDrained = this.read(stderr, (chunk) => this.log.write(chunk));
    void Promise.all([isRead, child.exited]).then(() => this.handleEnd());
    void isDrained;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this;
    if (this.isClosed || child?.input === undefined) throw new Error("The server is not running.");
    try {
      child.input.write(`${JSON.stringify(message)}\n`);
      await child.input.flush();
    } catch {
      // It reads no more: the request is told that it has ended, as when its output ends first.
      await this.close();
    }
  }

  /** Closes stdin, then sends TERM, then KILL to all processes of the server. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    const { child } = this;
    this.isClosed = true;
    if (child) {
      await closeInput(child);
      await Promise.race([child.gone, Bun.sleep(CLOSE_GRACE_MS)]);
      await child.end();
      await this.program.release?.(child.gone);
    }
    this.handleEnd();
  }

  private async read(
    stream: ReadableStream<Uint8Array> | undefined,
    write: (chunk: Uint8Array) => void,
  ): Promise<void> {
    try {
      for await (const chunk of stream ?? []) write(chunk);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      // It talks nonsense without an end; nothing that it says from now on is read.
      void this.close();
    }
  }

  private handleEnd(): void {
    // What it has started may outlive it.
    void this.close();
    const { onclose } = this;
    delete this.onclose;
    onclose?.();
  }
}

/** Room for what a server prints on stderr. */
export function createServerLog(): ByteRing {
  return new ByteRing(MAX_LOG_BYTES);
}

async function closeInput(child: ChildProcess): Promise<void> {
  try {
    await child.input?.end();
  } catch {
    // It has closed its end already.
  }
}
