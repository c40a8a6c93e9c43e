import { now } from "@diligent/core/light";
import { renderBlocks } from "./blocks/index.ts";
import type { LiveLook } from "./live-region.ts";
import { SPINNER_MS } from "./parts/activity-line.ts";
import type { InlineScreen } from "./screen/inline-screen.ts";
import type { Theme } from "./theme.ts";
import type { View } from "./view.ts";

/** Holds the view and keeps the screen showing it: finished blocks are written once, the rest is drawn when it changed. */
export class ViewPainter {
  private spinner: Timer | undefined;

  constructor(
    private readonly screen: InlineScreen,
    private readonly theme: Theme,
    public view: View,
  ) {}

  readonly change = (change: (view: View) => View): void => {
    const next = change(this.view);
    if (next === this.view) return;
    this.view = { ...next, finished: [] };
    if (next.finished.length > 0) {
      const { theme, now: time } = this.look();
      const { columns: width } = this.screen.terminal;
      const { cwd } = this.view.status;
      this.screen.finish(renderBlocks(next.finished, { width, theme, now: time, cwd }));
    }
    this.spin();
    this.screen.requestRender();
  };

  readonly look = (): Omit<LiveLook, "width"> => ({
    rows: this.screen.terminal.rows,
    theme: this.theme,
    now: now(),
  });

  stop(): void {
    clearInterval(this.spinner);
  }

  /** Nothing moves while nothing happens. */
  private spin(): void {
    const isMoving = this.view.activity.type !== "idle" || this.view.live.some(({ type }) => type === "tool");
    if (isMoving === (this.spinner !== undefined)) return;
    clearInterval(this.spinner);
    this.spinner = isMoving ? setInterval(() => this.screen.requestRender(), SPINNER_MS) : undefined;
  }
}
