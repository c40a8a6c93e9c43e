import { ByteRing } from "../../infrastructure/process/byte-ring.ts";
import { ServerProcess, type ServerProgram } from "../../infrastructure/process/server-process.ts";
import { monotonicMs } from "../../infrastructure/runtime.ts";
import { MessageReader } from "./message-reader.ts";

/** Who answers a server's requests and hears its notifications. */
export interface RpcHandler {
  /** The result of a request, `null` included; undefined for a method that is not known. It must not throw. */
  answer(method: string, params: unknown): unknown;
  notify(method: string, params: unknown): void;
  /** Called once, when the server has ended or was ended; `problem` is a sentence. */
  onEnd(problem: string): void;
}

interface PendingRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The error that a server has answered with. */
export class ResponseError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

const MAX_LOG_BYTES = 256 * 1024;
const SHOWN_LOG_BYTES = 400;
// Of what a server says about an error.
const MAX_ERROR_CHARACTERS = 500;

/** Exchanges messages of JSON-RPC with a server: requests, their answers, and notifications, both ways. */
export class RpcConnection {
  private readonly process: ServerProcess;
  private readonly log = new ByteRing(MAX_LOG_BYTES);
  private readonly pending = new Map<number, PendingRequest>();
  private lastId = 0;
  private problem: string | undefined;
  private isEnded = false;

  constructor(
    program: ServerProgram,
    private readonly handler: RpcHandler,
  ) {
    const reader = new MessageReader((message) => this.handle(message), monotonicMs);
    this.process = new ServerProcess(program, this.log, {
      onOutput: (chunk) => reader.write(chunk),
      onError: (error) => {
        this.problem ??= error.message;
      },
      onEnd: () => this.handleEnd(),
    });
  }

  /** @throws Error when the program cannot be started. */
  start(): Promise<void> {
    return this.process.start();
  }

  /** See `ServerProcess`. */
  memoryBytes(): number | undefined {
    return this.process.memoryBytes();
  }

  /**
   * Rejects with a `ResponseError`, with an Error when the server does not answer in time or has ended, or with the
   * reason of the signal. The server is told that the answer is no longer wanted.
   */
  request(
    method: string,
    params: unknown,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<unknown> {
    if (this.isEnded) return Promise.reject(new Error("The server has ended."));
    this.lastId += 1;
    const id = this.lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const cancel = (error: Error) => {
      if (!this.pending.has(id)) return;
      void this.send({ method: "$/cancelRequest", params: { id } });
      reject(error);
    };
    const timer = setTimeout(
      () => cancel(new Error(`The server did not answer within ${Math.round(timeoutMs / 1000)} s.`)),
      timeoutMs,
    );
    const onAbort = () => cancel(new Error("Interrupted."));
    signal?.addEventListener("abort", onAbort, { once: true });
    this.pending.set(id, { resolve, reject });
    void this.send({ id, method, params });
    if (signal?.aborted) onAbort();
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      this.pending.delete(id);
    });
  }

  notify(method: string, params: unknown): void {
    void this.send({ method, params });
  }

  /** Ends everything that the server has started. `problem` is why, unless it is the end of the session. */
  close(problem?: string): Promise<void> {
    this.problem ??= problem;
    return this.process.close();
  }

  private async send(message: object): Promise<void> {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    try {
      await this.process.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    } catch {
      // It has ended, which its requests are told.
    }
  }

  private handle({ id, method, params, result, error }: Record<string, unknown>): void {
    if (this.isEnded) return;
    if (typeof method === "string") {
      if (id === undefined) this.handler.notify(method, params);
      if (typeof id !== "number" && typeof id !== "string") return;
      const answer = this.handler.answer(method, params);
      const reply =
        answer === undefined
          ? { error: { code: METHOD_NOT_FOUND, message: "Not supported." } }
          : { result: answer };
      void this.send({ id, ...reply });
      return;
    }
    const request = typeof id === "number" ? this.pending.get(id) : undefined;
    if (error === undefined || error === null) request?.resolve(result);
    else request?.reject(toResponseError(error));
  }

  private handleEnd(): void {
    this.isEnded = true;
    const problem = this.problem ?? `It has ended unexpectedly.${this.describeLog()}`;
    for (const { reject } of this.pending.values()) reject(new Error(problem));
    this.handler.onEnd(problem);
  }

  private describeLog(): string {
    const text = this.log.read(SHOWN_LOG_BYTES).toString("utf8").replace(/\s+/g, " ").trim();
    return text === "" ? "" : ` It printed: ${text}`;
  }
}

const METHOD_NOT_FOUND = -32_601;

function toResponseError(error: unknown): ResponseError {
  const { code, message } =
    typeof error === "object" && error !== null
      ? { code: 0, message: "", ...error }
      : { code: 0, message: "" };
  const text = typeof message === "string" ? message.slice(0, MAX_ERROR_CHARACTERS) : "";
  return new ResponseError(typeof code === "number" ? code : 0, text || "The server reported an error.");
}
