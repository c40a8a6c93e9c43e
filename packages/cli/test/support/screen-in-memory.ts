import { runTui } from "../../src/tui/app.ts";
import { FakeIo } from "./fake-io.ts";
import { bareEnvironment } from "./run-diligent.ts";
import type { TemporaryProject } from "./temporary-project.ts";
import { VirtualTerminal } from "./virtual-terminal.ts";

const POLL_MS = 3;
const PATIENCE_MS = 30_000;
// The screen is drawn within two frames of any change.
const QUIET_MS = 120;

/**
 * The interactive program on a terminal in memory, in this process: input reaches it in the pieces in which
 * it was sent.
 */
export class MemoryScreen implements AsyncDisposable {
  readonly terminal = new VirtualTerminal({ columns: 80, rows: 24 });
  private readonly io = new FakeIo();
  private readonly ended: Promise<number>;

  /** The model's replies are in `script.json`. */
  constructor(private readonly place: TemporaryProject) {
    const { io, terminal } = this;
    io.cwd = place.project;
    io.environment = { ...bareEnvironment(place), TERM: "xterm-256color" };
    const options = { isSaved: true, isVerbose: false, model: "scripted/script.json" };
    const screen = {
      ...io,
      stdin: io.stdin,
      openTerminal: async () => ({ ...(await io.openTerminal()), terminal, writeNow() {} }),
    };
    this.ended = runTui({ kind: "run", isPrint: false, options }, screen);
  }

  /** Resolves once the session is open. */
  async opened(): Promise<this> {
    await this.shows(/^scripted\/script\.json/m);
    return this;
  }

  /** One read of the terminal's input. */
  send(piece: string): void {
    this.terminal.type(piece);
  }

  async shows(text: RegExp): Promise<string> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      await this.terminal.flush();
      const screen = this.terminal.screen().join("\n");
      if (text.test(screen)) return screen;
      if (performance.now() > deadline) throw new Error(`Never showed ${text}:\n${screen}`);
      await Bun.sleep(POLL_MS);
    }
  }

  /** The screen once nothing changes any more, with its cursor. */
  async rests(): Promise<string> {
    for (let writes = -1; writes !== this.terminal.writes.length; ) {
      writes = this.terminal.writes.length;
      await Bun.sleep(QUIET_MS);
    }
    await this.terminal.flush();
    const { row, column } = this.terminal.cursor();
    const text = this.terminal
      .scrollback()
      .map((line) => line.trimEnd())
      .join("\n");
    return `${text.replaceAll(this.place.top, "TOP")}\n(cursor ${row},${column})`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.io.send("SIGTERM");
    await this.ended;
  }
}
