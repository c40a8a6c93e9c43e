import { readdirSync, readFileSync, readlinkSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { bareEnvironment, PROGRAM } from "./run-diligent.ts";
import type { TemporaryProject } from "./temporary-project.ts";
import { hasOpenFrame } from "./terminal-bytes.ts";
import { VirtualTerminal } from "./virtual-terminal.ts";

const POLL_MS = 5;

// Output for the old size is read within this time; a frame for the new one comes later.
const IN_FLIGHT_MS = 15;
const LAST_LOOK_MS = 10;

export interface PtyOptions {
  columns?: number;
  rows?: number;
  environment?: Record<string, string | undefined>;
  /** What to start instead of the linked program, before the arguments. */
  program?: readonly string[];
  cwd?: string;
  /** Killed after this time; default: 20 s. */
  timeoutMs?: number;
  /** How long `waitFor` waits; default: 10 s. */
  patienceMs?: number;
  /** Called as soon as the program has written something, for tests that must answer it at once. */
  onOutput?: () => void;
}

/** A program in a separate pseudo-terminal, and the screen that a person would see. */
export interface PtyProgram extends AsyncDisposable {
  readonly terminal: VirtualTerminal;
  readonly process: Bun.Subprocess;
  readonly exitCode: Promise<number>;
  /** Everything that the program wrote to the terminal. */
  readonly bytes: string;
  /** Types keys; `\r` is Enter, `\x03` Ctrl+C, `\x1b` Escape. The terminal may get them a moment later. */
  send(keys: string): void;
  /** The same, and the terminal has them when this returns. Only on Linux. */
  sendAtOnce(keys: string): void;
  /** The currently visible rows. */
  screen(): Promise<string[]>;
  /** All rows, starting with those above the screen. */
  scrollback(): Promise<string[]>;
  /**
   * Resolves with the screen once a row on it, or the whole of it, has the text; fails if the program ends
   * first.
   */
  waitFor(text: string | RegExp): Promise<string[]>;
  /** Like `waitFor`, for any condition on the screen. */
  waitUntil(isShown: (screen: string[], terminal: VirtualTerminal) => boolean): Promise<string[]>;
  /** Resolves once nothing has been written for `quietMs` and the program sleeps: it has read all replies, too. */
  settle(quietMs?: number): Promise<string[]>;
  resize(columns: number, rows: number): Promise<void>;
  /** Like `resize`, between two frames. @returns true if a frame was being written after all. */
  resizeBetweenFrames(columns: number, rows: number): Promise<boolean>;
  /** Like `resizeBetweenFrames`, and resolves when the program has drawn for the new size. */
  resizeAndRedraw(columns: number, rows: number): Promise<boolean>;
}

/** Starts the real program, or another, in a disposable home and project. */
export function startInPty(
  place: TemporaryProject,
  args: readonly string[] = [],
  options: PtyOptions = {},
): PtyProgram {
  const { columns = 80, rows = 24, timeoutMs = 50_000, patienceMs = 40_000 } = options;
  const terminal = new VirtualTerminal({ columns, rows });
  const decoder = new TextDecoder();
  const child = Bun.spawn([...(options.program ?? [PROGRAM]), ...args], {
    cwd: options.cwd ?? place.project,
    env: { ...bareEnvironment(place), TERM: "xterm-256color", ...options.environment },
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    terminal: {
      cols: columns,
      rows,
      data(_, bytes) {
        terminal.write(decoder.decode(bytes, { stream: true }));
        options.onOutput?.();
      },
    },
  });
  const send = (keys: string) => void child.terminal?.write(keys);
  // A terminal whose window is closed answers no more queries.
  terminal.onReply = (reply) => {
    if (child.terminal?.closed === false) send(reply);
  };
  const screen = async () => {
    await terminal.flush();
    return terminal.screen();
  };
  const settle = async (quietMs = 100) => {
    for (let writes = -1; writes !== terminal.writes.length || !isSleeping(child.pid); ) {
      writes = terminal.writes.length;
      // In two parts: after a pause of this process, what has been written meanwhile is read between them.
      await Bun.sleep(quietMs - LAST_LOOK_MS);
      await Bun.sleep(LAST_LOOK_MS);
      await terminal.flush();
    }
    return screen();
  };
  const resize = async (columns: number, rows: number) => {
    await terminal.resize(columns, rows);
    child.terminal?.resize(columns, rows);
  };
  const resizeBetweenFrames = async (columns: number, rows: number) => {
    while (hasOpenFrame(terminal.bytes)) await Bun.sleep(1);
    const { length } = terminal.writes;
    await resize(columns, rows);
    await Bun.sleep(IN_FLIGHT_MS);
    return terminal.writes.length > length;
  };
  const waitUntil: PtyProgram["waitUntil"] = async (isShown) => {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      const rows = await screen();
      if (isShown(rows, terminal)) return rows;
      if (hasEnded || performance.now() > deadline) {
        const how = hasEnded ? "The program ended" : `Nothing after ${patienceMs} ms`;
        throw new Error(`${how}; the screen shows:\n${rows.join("\n")}`);
      }
      await Bun.sleep(POLL_MS);
    }
  };
  return {
    terminal,
    process: child,
    exitCode: child.exited,
    get bytes() {
      return terminal.bytes;
    },
    send,
    sendAtOnce: (keys) => void writeSync(findMaster(child.pid), keys),
    screen,
    scrollback: async () => {
      await terminal.flush();
      return terminal.scrollback();
    },
    waitUntil,
    waitFor: (text) => waitUntil((rows) => hasText(rows, text)),
    settle,
    resize,
    resizeBetweenFrames,
    async resizeAndRedraw(columns, rows) {
      const { length } = terminal.writes;
      const isRaced = await resizeBetweenFrames(columns, rows);
      await waitUntil((_, { writes }) => writes.length > length);
      return isRaced;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** False while a program has something to do, such as unread input; true if it has ended. */
function isSleeping(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [RD]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return true;
  }
}

function hasText(rows: readonly string[], text: string | RegExp): boolean {
  const whole = rows.join("\n");
  return typeof text === "string" ? whole.includes(text) : text.test(whole);
}

/** Our descriptor of the pseudo-terminal that is the standard input of a process. */
function findMaster(pid: number): number {
  const index = basename(readlinkSync(`/proc/${pid}/fd/0`));
  const isMaster = (descriptor: string) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1").includes(`tty-index:\t${index}\n`);
    } catch {
      return false; // It was closed meanwhile.
    }
  };
  const master = readdirSync("/proc/self/fd").find(isMaster);
  if (master === undefined) throw new Error(`The terminal of ${pid} is not ours.`);
  return Number(master);
}
