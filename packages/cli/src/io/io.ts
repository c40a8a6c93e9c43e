import type { Environment } from "@diligent/core/run";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import type { TerminalPort } from "../tui/screen/terminal.ts";
import type { TerminalHost } from "../tui/screen/terminal-guard.ts";

/** Signals that are handled; each of them ends a run. */
export type SignalName = "SIGINT" | "SIGQUIT" | "SIGTERM" | "SIGHUP";

/** Text output: stdout or stderr. A closed reader is no error; the text is dropped then. */
export interface CliOutput {
  readonly isTerminal: boolean;
  /** Terminal width; undefined if it is not a terminal. */
  readonly columns?: number | undefined;
  /** Queues text to be written soon, in order. */
  write(text: string): void;
  /** Resolves when everything queued is written, or nobody reads any more. */
  flush(): Promise<void>;
  /** Aborted once nothing can be written any more. */
  readonly closed: AbortSignal;
  /** The reason, unless the reader simply closed: for example a full disk. */
  readonly failure: Error | undefined;
}

/** Input: stdin. */
export interface CliInput {
  readonly isTerminal: boolean;
  /** The bytes; may be requested once. Unreadable input fails when it is read. */
  stream(): ReadableStream<Uint8Array>;
  /**
   * Turns off the terminal's echo and line editing until the returned function is called: bytes arrive as typed,
   * including Ctrl+C. Omitted if there is no terminal.
   */
  hide?(): () => void;
}

/** A terminal to draw on, and the listeners of its signals. */
export interface CliTerminal {
  terminal: TerminalPort;
  host: TerminalHost;
  /** Queries the terminal's size now; if it changed, the listener is called before this returns. */
  readSize?(): void;
  /** Writes to the terminal synchronously; for the very end. */
  writeNow?(text: string): void;
}

/** Everything the program touches outside its own memory and the disk; tests provide their own. */
export interface CliIo {
  stdin: CliInput;
  stdout: CliOutput;
  stderr: CliOutput;
  /** The working directory, absolute and real. */
  cwd: string;
  environment: Environment;
  /** A prompt sent by the program itself, such as the demo's: not added to the user's history. */
  ownPrompt?: string;
  /** Node's name for it, such as `linux`. */
  platform: string;
  /**
   * Calls `listener` for every signal until the returned function is called; without listeners a signal ends the
   * program.
   */
  onSignal(listener: (signal: SignalName) => void): () => void;
  /** Registers cleanup for an orderly exit; it gets half a second. */
  onExit(cleanUp: () => Promise<void> | void): void;
  /**
   * Registers synchronous cleanup for every exit except by other signals; called last. The returned function
   * unregisters it.
   */
  onAnyExit(cleanUp: () => void): () => void;
  /** The terminal for a full screen; loaded on first use. */
  openTerminal(): Promise<CliTerminal>;
  /** Ends the program immediately, whatever is still running. */
  exit(code: number): void;
}

/** Writes one text and a line feed, made safe for a terminal: used for every message to people. */
export function writeLine(output: CliOutput, text: string): void {
  output.write(`${sanitizeTerminalText(text)}\n`);
}

/** Reports on stderr why the program stops, on one line that starts with its name. */
export function writeFailure(output: CliOutput, text: string): void {
  writeLine(output, `diligent: ${text.trim().replace(/\s*\n\s*/g, " ")}`);
}
