import { now as clockNow } from "@diligent/core/light";
import type { DiligentConfig } from "@diligent/core/run";
import { formatDuration } from "../text/format-amount.ts";
import { isWorking, type View } from "../view.ts";
import { FOCUS_OFF, FOCUS_ON, readFocus } from "./focus.ts";
import { chooseNotification, isInMultiplexer, notificationSequence } from "./notification.ts";
import { hasTitle, POP_TITLE, PUSH_TITLE, titleSequence, titleState, titleText } from "./terminal-title.ts";

export interface AttentionOptions {
  environment: Readonly<Record<string, string | undefined>>;
  /** Writes to the terminal while it is ours; what moves no cursor. */
  write(sequence: string): void;
  /** Milliseconds. */
  now?: () => number;
}

/** What it is told once it is known. */
export interface AttentionSettings {
  /** The project's name; its directory's. */
  project: string;
  /** See `terminal` in the configuration. */
  settings: DiligentConfig["terminal"];
}

// A turn that took less was waited for.
const LONG_TURN_MS = 10_000;
// Where nobody tells the focus, who has pressed no key for so long may be elsewhere.
const ABSENCE_MS = 10_000;

/**
 * What happens around the screen, for somebody who looks elsewhere: the terminal's title, and a call when a long turn has
 * ended or a question waits. Does nothing before `configure`. What it has switched on is in `enter` and `leave`, to be
 * written whenever the terminal is taken and given back.
 */
export class Attention {
  private readonly now: () => number;
  private project = "";
  private isTitled = false;
  private notify: "auto" | "bell" | "off" = "off";
  private title = "";
  private focus: "in" | "out" | undefined;
  private lastKeyAt: number;
  private workingSince: number | undefined;
  private isAsking = false;

  constructor(private readonly options: AttentionOptions) {
    this.now = options.now ?? clockNow;
    this.lastKeyAt = this.now();
  }

  configure({ project, settings = {} }: AttentionSettings, view: View): void {
    const { environment } = this.options;
    this.options.write(this.leave());
    this.project = project;
    this.isTitled = settings.title !== false && hasTitle(environment);
    this.notify = settings.notify ?? "auto";
    this.title = this.titleOf(view);
    this.options.write(this.enter());
  }

  /** What to write when the terminal has been taken. */
  enter(): string {
    const title = this.isTitled ? PUSH_TITLE + titleSequence(this.title) : "";
    return title + (this.notify === "off" ? "" : FOCUS_ON);
  }

  /** What to write before the terminal is given back, once for every `enter`. */
  leave(): string {
    // What happens to the focus from here on is not told to us.
    this.focus = undefined;
    // A terminal without a stack goes back to its usual title for an empty one.
    return (this.notify === "off" ? "" : FOCUS_OFF) + (this.isTitled ? titleSequence("") + POP_TITLE : "");
  }

  /** Takes note of input; true for what the terminal said of its focus, which is nobody else's. */
  readInput(data: string): boolean {
    const focus = readFocus(data);
    if (focus === undefined) this.lastKeyAt = this.now();
    this.focus = focus ?? this.focus;
    return focus !== undefined;
  }

  /** Shows what has become of a session, and calls if that is worth a call. */
  update(view: View): void {
    this.showTitle(view);
    const isAsking = view.dialog?.type === "approval";
    if (isAsking && !this.isAsking) this.call("waits for your answer");
    this.isAsking = isAsking;
    if (isWorking(view)) {
      this.workingSince ??= this.now();
      return;
    }
    const since = this.workingSince;
    this.workingSince = undefined;
    if (since === undefined) return;
    const durationMs = this.now() - since;
    if (durationMs >= LONG_TURN_MS) this.call(`done after ${formatDuration(durationMs)}`);
  }

  private showTitle(view: View): void {
    if (!this.isTitled) return;
    const title = this.titleOf(view);
    if (title === this.title) return;
    this.title = title;
    this.options.write(titleSequence(title));
  }

  private titleOf(view: View): string {
    return titleText(this.project, titleState(view));
  }

  private call(body: string): void {
    if (this.notify === "off" || !this.isAway()) return;
    const { environment } = this.options;
    const kind = this.notify === "bell" ? "bell" : chooseNotification(environment);
    this.options.write(
      notificationSequence({ title: titleText(this.project, "idle"), body }, { kind, environment }),
    );
  }

  /** A terminal that says nothing had the focus when it was typed in; a multiplexer may only keep it to itself. */
  private isAway(): boolean {
    if (this.focus !== undefined) return this.focus === "out";
    return isInMultiplexer(this.options.environment) && this.now() - this.lastKeyAt >= ABSENCE_MS;
  }
}
