import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { InlineScreen, type InlineScreenOptions } from "../../src/tui/screen/inline-screen.ts";
import { PLACE_QUERY } from "../../src/tui/screen/region.ts";
import { VirtualTerminal, type VirtualTerminalOptions } from "./virtual-terminal.ts";

export interface StageOptions extends VirtualTerminalOptions, InlineScreenOptions {
  /** What the shell has printed before; a line each. */
  before?: readonly string[];
}

/** An inline screen on a terminal in memory, whose live region the test sets. */
export class ScreenStage {
  readonly terminal: VirtualTerminal;
  readonly screen: InlineScreen;
  /** The lines of the live region; a final `|` is the cursor. */
  live: string[] = [];

  constructor({ before = [], ...options }: StageOptions = {}) {
    this.terminal = new VirtualTerminal(options);
    for (const line of before) this.terminal.write(`${line}\r\n`);
    this.screen = new InlineScreen(this.terminal, options);
    this.screen.addChild({ render: () => this.live.map(placeCursor), invalidate() {} });
  }

  /** Starts the screen and answers its queries. */
  async start(...live: string[]): Promise<void> {
    this.live = live;
    this.screen.start();
    await this.draw();
    await this.draw();
  }

  /** Draws a frame; resolves with its output, except for a query after it, once it is on the screen. */
  async draw(...finished: string[]): Promise<string> {
    const writes = this.terminal.writes.length;
    this.screen.finish(finished);
    this.screen.renderNow();
    const written = this.terminal.writes.slice(writes).join("").replace(PLACE_QUERY, "");
    await this.terminal.flush();
    return written;
  }

  /** Everything in the terminal, without trailing blanks. */
  rows(): string[] {
    return this.terminal.scrollback().map((row) => row.trimEnd());
  }

  /** Like `rows`, with wrapped rows joined. */
  lines(): string[] {
    return this.terminal.lines().map((line) => line.trimEnd());
  }
}

/** The line with the cursor at its last character, `|`. */
export function placeCursor(line: string): string {
  return line.endsWith("|") ? line.slice(0, -1) + CURSOR_MARKER : line;
}
