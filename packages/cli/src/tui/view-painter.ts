import { now } from "@diligent/core/light";
import { BlockWriter } from "./block-writer.ts";
import type { Keymap } from "./keys/keymap.ts";
import type { LiveLook } from "./live-region.ts";
import { Movement } from "./movement.ts";
import type { InlineScreen } from "./screen/inline-screen.ts";
import type { Theme } from "./theme.ts";
import { isWorking, type View } from "./view.ts";

/** Holds the view and keeps the screen showing it: finished blocks are written once, the rest is drawn when it changed. */
export class ViewPainter {
  private readonly writer = new BlockWriter();
  private readonly movement: Movement;
  /** Told of every change, once it is shown. */
  onChange: (view: View) => void = () => {};

  constructor(
    private readonly screen: InlineScreen,
    private readonly looks: { theme: Theme; keymap: Keymap },
    public view: View,
  ) {
    this.movement = new Movement(() => screen.requestRender());
    screen.beforeFrame = () => {
      const { columns: width } = screen.terminal;
      return this.writer.writeOpen(this.view.live, { width, theme: looks.theme });
    };
  }

  readonly change = (change: (view: View) => View): void => {
    const next = change(this.view);
    if (next === this.view) return;
    this.view = { ...next, finished: [] };
    if (next.finished.length > 0) {
      const { columns: width } = this.screen.terminal;
      const { cwd } = this.view.status;
      const look = { width, theme: this.looks.theme, now: now(), cwd };
      this.screen.finish(this.writer.writeFinished(next.finished, look));
    }
    this.movement.update(isWorking(this.view));
    this.screen.requestRender();
    this.onChange(this.view);
  };

  /** The view as it is to be drawn. */
  get shownView(): View {
    return { ...this.view, live: this.writer.withoutWritten(this.view.live) };
  }

  /** How the live region is to be drawn now, in the room there is. */
  readonly look = (): Omit<LiveLook, "width"> => ({
    rows: this.screen.terminal.rows,
    ...this.looks,
    now: now(),
    above: this.writer.end,
  });

  stop(): void {
    this.movement.stop();
  }
}
