import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { ByteRing } from "../../infrastructure/process/byte-ring.ts";
import { ServerProcess, type ServerProgram } from "../../infrastructure/process/server-process.ts";
import { StdoutMessages } from "./stdout-messages.ts";

// What is kept of a server's stderr; the newest part explains a failure.
const MAX_LOG_BYTES = 1024 * 1024;

/** Runs a server and exchanges messages with it over its stdin and stdout. Other lines on stdout are ignored. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  private readonly process: ServerProcess;

  /** @param log receives its stderr, and the lines of its stdout that are no messages. */
  constructor(program: ServerProgram, log: ByteRing) {
    const messages = new StdoutMessages({
      onMessage: (message) => this.onmessage?.(message),
      onOther: (line) => log.write(line),
    });
    this.process = new ServerProcess(program, log, {
      onOutput: (chunk) => messages.write(chunk),
      onError: (error) => this.onerror?.(error),
      onEnd: () => {
        const { onclose } = this;
        delete this.onclose;
        onclose?.();
      },
    });
  }

  /** @throws Error when the program cannot be started. */
  start(): Promise<void> {
    return this.process.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.process.write(`${JSON.stringify(message)}\n`);
  }

  /** Ends everything that the server has started. */
  close(): Promise<void> {
    return this.process.close();
  }
}

/** Room for what a server prints on stderr. */
export function createServerLog(): ByteRing {
  return new ByteRing(MAX_LOG_BYTES);
}
