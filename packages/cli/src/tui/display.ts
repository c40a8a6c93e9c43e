import { basename } from "node:path";
import type { ProjectSession } from "@diligent/core/harness";
import { now } from "@diligent/core/light";
import type { CliIo, CliTerminal } from "../io/io.ts";
import { IdleCleanup } from "../io/memory.ts";
import { BlockWriter } from "./block-writer.ts";
import type { Keymap } from "./keys/keymap.ts";
import { type LiveStyle, SPINNER_MS } from "./live-region.ts";
import { Notifications } from "./notifications.ts";
import { InlineScreen } from "./screen/inline-screen.ts";
import type { TerminalPort } from "./screen/terminal.ts";
import { TerminalGuard } from "./screen/terminal-guard.ts";
import type { Theme } from "./theme.ts";
import { createView, isWorking, type View } from "./view.ts";

interface DisplayStyle {
  theme: Theme;
  keymap: Keymap;
}

/**
 * The terminal as the program uses it: the screen that shows the view, its title and notifications, and its
 * current owner.
 */
export class Display {
  /** The terminal itself; `screen` draws on it. */
  readonly terminal: TerminalPort;
  readonly screen: InlineScreen;
  readonly guard: TerminalGuard;
  readonly painter: ViewPainter;
  private readonly notifications: Notifications;
  private isElsewhere = false;

  constructor(
    { terminal, host, writeNow, readSize }: CliTerminal,
    { environment, cwd }: Pick<CliIo, "environment" | "cwd">,
    style: DisplayStyle,
  ) {
    this.terminal = terminal;
    this.screen = new InlineScreen(terminal, { environment, readSize });
    this.guard = new TerminalGuard(this.screen, host, writeNow);
    this.painter = new ViewPainter(this.screen, style, createView({ cwd }));
    this.notifications = new Notifications({ environment, write: (sequence) => this.guard.write(sequence) });
    this.guard.addModes(this.notifications);
    this.painter.onChange = (view) => this.notifications.update(view);
  }

  /** True while another program has the terminal. */
  get isLent(): boolean {
    return this.isElsewhere;
  }

  /** Lends the terminal to another program during `run`; see `TerminalGuard.lend`. */
  async lend<T>(run: (ended: AbortSignal) => Promise<T>): Promise<T> {
    this.isElsewhere = true;
    try {
      return await this.guard.lend(run);
    } finally {
      this.isElsewhere = false;
    }
  }

  /** Calls `take` with each piece of keyboard input, without the terminal's own replies. */
  onInput(take: (data: string) => void): void {
    this.screen.addInputListener((data) => {
      if (!this.notifications.readInput(data)) take(data);
      return { consume: true };
    });
  }

  /** From now on, the title and notifications show this session's project, as its configuration says. */
  configureFor({ loaded: { config, projectRoot } }: ProjectSession): void {
    const facts = { project: basename(projectRoot), settings: config.terminal };
    this.notifications.configure(facts, this.painter.view);
  }
}

/**
 * Holds the view and keeps the screen up to date: finished blocks are written once, the rest is redrawn when
 * it changes.
 */
export class ViewPainter {
  private readonly writer = new BlockWriter();
  private readonly movement: Movement;
  /** Called after every change, once it is shown. */
  onChange: (view: View) => void = () => {};

  constructor(
    private readonly screen: InlineScreen,
    private readonly styles: { theme: Theme; keymap: Keymap },
    public view: View,
  ) {
    this.movement = new Movement(() => screen.requestRender());
    screen.isMoving = () => isWorking(this.view);
    screen.beforeFrame = () => {
      const { columns: width, rows } = screen.terminal;
      return this.writer.writeOpen(this.view.live, { width, rows, theme: styles.theme });
    };
  }

  readonly change = (change: (view: View) => View): void => {
    const next = change(this.view);
    if (next === this.view) return;
    this.view = { ...next, finished: [] };
    if (next.finished.length > 0) {
      const { columns: width } = this.screen.terminal;
      const { cwd, renderers } = this.view.status;
      const context = { width, theme: this.styles.theme, now: now(), cwd, renderers };
      this.screen.finish(this.writer.writeFinished(next.finished, context));
    }
    this.movement.update(isWorking(this.view));
    this.screen.requestRender();
    this.onChange(this.view);
  };

  /** The view to draw. */
  get shownView(): View {
    return { ...this.view, live: this.writer.withoutWritten(this.view.live) };
  }

  /** How to draw the live region now, in the available space. */
  readonly liveStyle = (): Omit<LiveStyle, "width"> => ({
    rows: this.screen.terminal.rows,
    ...this.styles,
    now: now(),
    above: this.writer.end,
  });

  stop(): void {
    this.movement.stop();
  }
}

/** Periodic work: a frame for every step while something moves; memory cleanup after that. */
class Movement {
  private spinner: Timer | undefined;
  private readonly cleanup = new IdleCleanup();

  constructor(private readonly draw: () => void) {}

  /** Nothing moves while the program is idle. */
  update(isMoving: boolean): void {
    if (isMoving === (this.spinner !== undefined)) return;
    this.cleanup.noteMovement(isMoving);
    clearInterval(this.spinner);
    this.spinner = isMoving ? setInterval(this.draw, SPINNER_MS) : undefined;
  }

  stop(): void {
    clearInterval(this.spinner);
    this.cleanup.stop();
  }
}
