import { basename } from "node:path";
import type { Terminal } from "@earendil-works/pi-tui/dist/terminal.js";
import type { CliIo, CliTerminal } from "../cli-io.ts";
import type { OpenSession } from "../open-session.ts";
import { Attention } from "./attention/attention.ts";
import type { Keymap } from "./keys/keymap.ts";
import { InlineScreen } from "./screen/inline-screen.ts";
import { TerminalGuard } from "./screen/terminal-guard.ts";
import type { Theme } from "./theme.ts";
import { createView } from "./view.ts";
import { ViewPainter } from "./view-painter.ts";

interface DisplayLook {
  theme: Theme;
  keymap: Keymap;
}

/** The terminal as the program has it: the screen that shows the view, what happens around it, and who holds it. */
export class Display {
  /** As it is; what the screen draws goes to `screen`. */
  readonly terminal: Terminal;
  readonly screen: InlineScreen;
  readonly guard: TerminalGuard;
  readonly painter: ViewPainter;
  private readonly attention: Attention;
  private isElsewhere = false;

  constructor(
    { terminal, host, writeNow, readSize }: CliTerminal,
    { environment, cwd }: Pick<CliIo, "environment" | "cwd">,
    look: DisplayLook,
  ) {
    this.terminal = terminal;
    this.screen = new InlineScreen(terminal, { environment, readSize });
    this.guard = new TerminalGuard(this.screen, host, writeNow);
    this.painter = new ViewPainter(this.screen, look, createView({ cwd }));
    this.attention = new Attention({ environment, write: (sequence) => this.guard.write(sequence) });
    this.guard.accompany(this.attention);
    this.painter.onChange = (view) => this.attention.update(view);
  }

  /** True while another program has the terminal. */
  get isLent(): boolean {
    return this.isElsewhere;
  }

  /** Lends the terminal to another program while `run` lasts; see `TerminalGuard.lend`. */
  async lend<T>(run: (ended: AbortSignal) => Promise<T>): Promise<T> {
    this.isElsewhere = true;
    try {
      return await this.guard.lend(run);
    } finally {
      this.isElsewhere = false;
    }
  }

  /** Calls `take` with what comes from the keyboard, a piece at a time, but for what the terminal says of itself. */
  onInput(take: (data: string) => void): void {
    this.screen.addInputListener((data) => {
      if (!this.attention.readInput(data)) take(data);
      return { consume: true };
    });
  }

  /** From now on the title and calls tell of the session's project, as its configuration wants it. */
  attendTo({ loaded: { config, projectRoot } }: OpenSession): void {
    const facts = { project: basename(projectRoot), settings: config.terminal };
    this.attention.configure(facts, this.painter.view);
  }
}
