import type { Environment } from "@diligent/core/run";
import type { Terminal } from "@earendil-works/pi-tui/dist/terminal.js";
import type { TerminalHost } from "./tui/screen/terminal-guard.ts";

/** The signals that are listened for; each of them ends a run. */
export type SignalName = "SIGINT" | "SIGQUIT" | "SIGTERM" | "SIGHUP";

/** Where text goes: stdout or stderr. Nobody reading any more is no error, the text is then dropped. */
export interface CliOutput {
  readonly isTerminal: boolean;
  /** How wide the terminal is; undefined where it is none. */
  readonly columns?: number | undefined;
  /** Hands over text to be written soon, in order. */
  write(text: string): void;
  /** Resolves when everything handed over is written, or nobody reads any more. */
  flush(): Promise<void>;
  /** Aborted once nothing can be written any more. */
  readonly closed: AbortSignal;
  /** Why, where the reader did not simply leave: a full disk, for instance. */
  readonly failure: Error | undefined;
}

/** Where input comes from: stdin. */
export interface CliInput {
  readonly isTerminal: boolean;
  /** The bytes, to be asked for once. An input that cannot be read fails when it is read. */
  stream(): ReadableStream<Uint8Array>;
}

/** A terminal to draw on, and what its signals are told to. */
export interface CliTerminal {
  terminal: Terminal;
  host: TerminalHost;
  /** Asks the terminal for its size now; its listener is told before this returns when it has changed. */
  readSize?(): void;
  /** Writes to the terminal before it returns; for the very end. */
  writeNow?(text: string): void;
}

/** Everything the program touches outside its own memory and the disk; tests pass their own. */
export interface CliIo {
  stdin: CliInput;
  stdout: CliOutput;
  stderr: CliOutput;
  /** The working directory, absolute and real. */
  cwd: string;
  environment: Environment;
  /** As Node names it, such as `linux`. */
  platform: string;
  /** Calls `listener` for every later signal until the returned function is called; without listeners a signal ends the program. */
  onSignal(listener: (signal: SignalName) => void): () => void;
  /** Registers what is to be done before the program ends in good order; it gets half a second. */
  onExit(cleanUp: () => Promise<void> | void): void;
  /**
   * Registers what is to be done however the program ends, but by other signals: it is called at the very last, cannot wait.
   * The returned function takes that back.
   */
  onAnyExit(cleanUp: () => void): () => void;
  /** The terminal for a screen of one's own; it is loaded when it is asked for. */
  openTerminal(): Promise<CliTerminal>;
  /** Ends the program at once, whatever is still going on. */
  exit(code: number): void;
}
