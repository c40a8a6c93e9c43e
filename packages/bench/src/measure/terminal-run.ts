import { VirtualTerminal } from "../../../cli/test/support/virtual-terminal.ts";
import { signalGroup, watchGroup } from "./process-run.ts";

/** A program to start in a separate terminal. */
interface TerminalOptions {
  argv: readonly string[];
  cwd: string;
  /** Its complete environment except `TERM`: nothing of this process's own is added. */
  environment: Readonly<Record<string, string>>;
  /** Killed after this time; default: two minutes. */
  timeLimitMs?: number;
}

const COLUMNS = 80;
const ROWS = 24;
// More than any program here prints, so that the text of the whole run can be examined.
const SCROLLBACK = 20_000;
const TIME_LIMIT_MS = 120_000;
const KILL_AFTER_MS = 3_000;
const POLL_MS = 10;
// The spinner moves ten times a second.
const QUIET_MS = 400;

interface Waiting {
  text: string;
  /** The end of the new output. */
  seen: string;
  resolve(at: number): void;
}

/**
 * A program in a pseudo-terminal that answers queries like xterm. Disposing of it ends the program with all
 * its children.
 */
export class TerminalRun implements AsyncDisposable {
  /** By `performance.now()`, like all times here. */
  readonly startedAt = performance.now();
  readonly pid: number;
  readonly screen = new VirtualTerminal({ columns: COLUMNS, rows: ROWS, scrollback: SCROLLBACK });
  private readonly child: Bun.Subprocess;
  private readonly decoder = new TextDecoder();
  private readonly timer: Timer;
  private readonly unwatch: () => void;
  private waiting: Waiting[] = [];

  constructor({ argv, cwd, environment, timeLimitMs = TIME_LIMIT_MS }: TerminalOptions) {
    this.child = Bun.spawn([...argv], {
      cwd,
      env: { ...environment, TERM: "xterm-256color" },
      terminal: { cols: COLUMNS, rows: ROWS, data: (_, bytes) => this.take(bytes) },
    });
    this.pid = this.child.pid;
    this.unwatch = watchGroup(this.pid);
    this.timer = setTimeout(() => signalGroup(this.pid, "SIGKILL"), timeLimitMs);
    this.screen.onReply = (reply) => this.type(reply);
  }

  /** When the program ended. */
  get ended(): Promise<number> {
    return this.child.exited.then(() => performance.now());
  }

  type(keys: string): void {
    this.child.terminal?.write(keys);
  }

  /** Resolves with the time at which a text arrived in one piece; only output from now on counts. */
  async nextOutput(text: string): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.waiting.push({ text, seen: "", resolve });
    const failed = this.ended.then(() => this.fail(`ended before it wrote ${JSON.stringify(text)}`));
    return Promise.race([promise, failed]);
  }

  /** Resolves once the text is visible anywhere on the screen. */
  async waitForScreen(text: string | RegExp): Promise<void> {
    for (;;) {
      const hasEnded = this.child.exitCode !== null || this.child.signalCode !== null;
      await this.screen.flush();
      const rows = this.screen.screen().join("\n");
      if (typeof text === "string" ? rows.includes(text) : text.test(rows)) return;
      if (hasEnded) return this.fail(`ended before it showed ${text}`);
      await Bun.sleep(POLL_MS);
    }
  }

  /** Resolves once nothing has been written for a while, so the spinner has stopped. */
  async settle(): Promise<void> {
    for (let writes = -1; writes !== this.screen.writes.length; ) {
      writes = this.screen.writes.length;
      await Bun.sleep(QUIET_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.timer);
    // After TERM, a program ends its own children; if it ignores TERM, it is killed.
    signalGroup(this.pid, "SIGTERM");
    const kill = setTimeout(() => signalGroup(this.pid, "SIGKILL"), KILL_AFTER_MS);
    await this.child.exited;
    clearTimeout(kill);
    this.unwatch();
  }

  private take(bytes: Uint8Array): void {
    const at = performance.now();
    const text = this.decoder.decode(bytes, { stream: true });
    this.screen.write(text);
    for (const waiting of this.waiting) {
      waiting.seen += text;
      if (waiting.seen.includes(waiting.text)) waiting.resolve(at);
      else waiting.seen = waiting.seen.slice(-waiting.text.length);
    }
    this.waiting = this.waiting.filter(({ seen, text }) => !seen.includes(text));
  }

  private async fail(what: string): Promise<never> {
    await this.screen.flush();
    const rows = this.screen.scrollback().slice(-ROWS);
    throw new Error(`The program in the terminal ${what}. It shows:\n${rows.join("\n")}`);
  }
}

// Letters that appear nowhere else on the screen, so that each is its own echo; all are one column wide.
const FIRST_LETTER = 0x100;
const LETTERS = 0x150;
// The prompt is cleared before it takes a second row.
const KEYS_PER_LINE = 40;
const EMPTY_LINE = "\x15";

/** How fast and how long to type. */
interface Typing {
  /** The delay between the echo of a key and the next key. */
  intervalMs: number;
  /** Typing continues until then. */
  until: (typed: number) => boolean;
}

/** Types keys one by one, each after the echo of the previous one, and returns the echo times, in ms. */
export async function measureEchoes(run: TerminalRun, { intervalMs, until }: Typing): Promise<number[]> {
  const times: number[] = [];
  while (!until(times.length)) {
    times.push(await measureEcho(run, letterAt(times.length)));
    if (times.length % KEYS_PER_LINE === 0) run.type(EMPTY_LINE);
    await Bun.sleep(intervalMs);
  }
  run.type(EMPTY_LINE);
  return times;
}

/** The echo time of one key, in ms. The key must not be on the screen already. */
export async function measureEcho(run: TerminalRun, key: string): Promise<number> {
  const echoed = run.nextOutput(key);
  const typedAt = performance.now();
  run.type(key);
  return (await echoed) - typedAt;
}

function letterAt(index: number): string {
  return String.fromCodePoint(FIRST_LETTER + (index % LETTERS));
}

const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";

/** The sizes in bytes of what a terminal shows at once: the synchronized updates in a program's output. */
export function frameBytes(output: string): number[] {
  const [, ...frames] = output.split(BEGIN);
  return frames.map((frame) => Buffer.byteLength(BEGIN + frame.slice(0, frame.indexOf(END)) + END));
}

/** The output without the colours and attributes of text. */
export function withoutColors(output: string): string {
  const [first = "", ...others] = output.split("\x1b[");
  return first + others.map((rest) => (COLOR.test(rest) ? rest.replace(COLOR, "") : `\x1b[${rest}`)).join("");
}

const COLOR = /^[\d;:]*m/;
