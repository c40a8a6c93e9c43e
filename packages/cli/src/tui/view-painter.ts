import { now } from "@diligent/core/light";
import { IdleCleanup } from "../idle-cleanup.ts";
import { type BlockEnd, renderBlocks } from "./blocks/index.ts";
import type { Keymap } from "./keys/keymap.ts";
import type { LiveLook } from "./live-region.ts";
import { OpenAnswer } from "./open-answer.ts";
import { SPINNER_MS } from "./parts/activity-line.ts";
import type { InlineScreen } from "./screen/inline-screen.ts";
import type { Theme } from "./theme.ts";
import { isWorking, type View } from "./view.ts";

/** Holds the view and keeps the screen showing it: finished blocks are written once, the rest is drawn when it changed. */
export class ViewPainter {
  private spinner: Timer | undefined;
  private readonly answer = new OpenAnswer();
  private readonly cleanup = new IdleCleanup();
  private above: BlockEnd = "none";
  /** Told of every change, once it is shown. */
  onChange: (view: View) => void = () => {};

  constructor(
    private readonly screen: InlineScreen,
    private readonly looks: { theme: Theme; keymap: Keymap },
    public view: View,
  ) {
    screen.beforeFrame = this.writeOpen;
  }

  readonly change = (change: (view: View) => View): void => {
    const next = change(this.view);
    if (next === this.view) return;
    this.view = { ...next, finished: [] };
    if (next.finished.length > 0) {
      const { theme, now: time } = this.look();
      const { columns: width } = this.screen.terminal;
      const { cwd } = this.view.status;
      const finished = this.answer.finish(next.finished, { width, theme });
      const { lines, end } = renderBlocks(finished, { width, theme, now: time, cwd }, this.above);
      this.above = end;
      this.screen.finish(lines);
    }
    this.spin();
    this.screen.requestRender();
    this.onChange(this.view);
  };

  /** The view as it is to be drawn: without what is written of an answer that is still coming. */
  get shownView(): View {
    const live = this.view.live.map((block) => (block.type === "answer" ? this.answer.show(block) : block));
    return { ...this.view, live };
  }

  /** What has become final of an answer that is still coming, for good above the live region. */
  private readonly writeOpen = (): readonly string[] => {
    // Nothing may overtake what stands above it.
    const [block] = this.view.live;
    if (block?.type !== "answer") return [];
    const { columns: width } = this.screen.terminal;
    const rows = this.answer.write(block, { width, theme: this.looks.theme });
    if (rows.length === 0) return rows;
    const isApart = this.above !== "none" && this.above !== "open";
    this.above = "open";
    return isApart ? ["", ...rows] : rows;
  };

  readonly look = (): Omit<LiveLook, "width"> => ({
    rows: this.screen.terminal.rows,
    ...this.looks,
    now: now(),
    above: this.above,
  });

  stop(): void {
    clearInterval(this.spinner);
    this.cleanup.stop();
  }

  /** Nothing moves while nothing happens. */
  private spin(): void {
    const isMoving = isWorking(this.view);
    if (isMoving === (this.spinner !== undefined)) return;
    this.cleanup.noteMovement(isMoving);
    clearInterval(this.spinner);
    this.spinner = isMoving ? setInterval(() => this.screen.requestRender(), SPINNER_MS) : undefined;
  }
}
