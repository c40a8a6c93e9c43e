import type { ByteRing } from "./byte-ring.ts";
import { type ChildProcess, type ProcessOptions, startProcess } from "./process.ts";

/** The program of a server that talks over its stdin and stdout, ready to be started. */
export interface ServerProgram
  extends Pick<
    ProcessOptions,
    "argv" | "cwd" | "environment" | "report" | "processTable" | "inheritedFiles"
  > {
  /** Called once it has ended. */
  release?(gone: Promise<unknown>): Promise<void>;
}

/** Who hears of a server's process. */
interface ServerListener {
  /** Called with what it prints on stdout, in order. What it throws ends the server: it talks nonsense. */
  onOutput(chunk: Uint8Array): void;
  /** Called with what `onOutput` has thrown. */
  onError?(error: Error): void;
  /** Called once, when it has ended. */
  onEnd(): void;
}

/** How long a server may take to end by itself once its stdin is closed. */
const CLOSE_GRACE_MS = 400;

/**
 * A running server. Its stderr is always read, so that it never blocks. `close` ends everything that it has started,
 * also behind a wrapper.
 */
export class ServerProcess {
  private child: ChildProcess | undefined;
  private isClosed = false;
  private hasReportedEnd = false;
  private closing: Promise<void> | undefined;

  /** @param log receives its stderr. */
  constructor(
    private readonly program: ServerProgram,
    private readonly log: ByteRing,
    private readonly listener: ServerListener,
  ) {}

  /** @throws Error when the program cannot be started. */
  async start(): Promise<void> {
    const { release: _, ...program } = this.program;
    const child = await startProcess({ ...program, hasInput: true, hasSeparateOutputs: true });
    this.child = child;
    const [stdout, stderr] = child.outputs;
    const isRead = this.read(stdout, (chunk) => this.listener.onOutput(chunk));
    void this.read(stderr, (chunk) => this.log.write(chunk));
    void Promise.all([isRead, child.exited]).then(() => this.handleEnd());
  }

  /** Bytes of memory that it and all its descendants use; undefined if that is unknown. */
  memoryBytes(): number | undefined {
    return this.child?.memoryBytes();
  }

  /** @throws Error if it does not run. */
  async write(text: string): Promise<void> {
    const { child } = this;
    if (this.isClosed || child?.input === undefined) throw new Error("The server is not running.");
    try {
      child.input.write(text);
      await child.input.flush();
    } catch {
      // It reads no more: the request is told that it has ended, as when its output ends first.
      await this.close();
    }
  }

  /** Closes stdin, then sends TERM, then KILL to all its processes. */
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
      this.listener.onError?.(error instanceof Error ? error : new Error(String(error)));
      // It talks nonsense without an end; nothing that it says from now on is read.
      void this.close();
    }
  }

  private handleEnd(): void {
    // What it has started may outlive it.
    void this.close();
    if (this.hasReportedEnd) return;
    this.hasReportedEnd = true;
    this.listener.onEnd();
  }
}

async function closeInput(child: ChildProcess): Promise<void> {
  try {
    await child.input?.end();
  } catch {
    // It has closed its end already.
  }
}
