import { now as clockNow } from "@diligent/core/light";
import type { DiligentConfig } from "@diligent/core/run";
import type { View } from "../view.ts";
import { CallReasons } from "./call-reasons.ts";
import { FOCUS_OFF, FOCUS_ON } from "./focus.ts";
import { chooseNotification, notificationSequence } from "./notification.ts";
import { Presence } from "./presence.ts";
import { hasTitle, titleText } from "./terminal-title.ts";
import { WindowTitle } from "./window-title.ts";

/** What it works with from the beginning. */
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

/**
 * What happens around the screen, for somebody who looks elsewhere: the terminal's title, and a call when a long turn has
 * ended or a question waits. Does nothing before `configure`. What it has switched on is in `enter` and `leave`, to be
 * written whenever the terminal is taken and given back.
 */
export class Attention {
  private readonly now: () => number;
  private readonly presence: Presence;
  private readonly reasons = new CallReasons();
  private readonly title = new WindowTitle();
  private project = "";
  private notify: "auto" | "bell" | "off" = "off";

  constructor(private readonly options: AttentionOptions) {
    this.now = options.now ?? clockNow;
    this.presence = new Presence({ environment: options.environment, now: this.now });
  }

  /** Begins, or goes on for another session, with a title that suits its view. */
  configure({ project, settings = {} }: AttentionSettings, view: View): void {
    this.options.write(this.leave());
    this.project = project;
    this.notify = settings.notify ?? "auto";
    const isShown = settings.title !== false && hasTitle(this.options.environment);
    this.title.configure({ project, isShown }, view);
    this.options.write(this.enter());
  }

  /** What to write when the terminal has been taken. */
  enter(): string {
    return this.title.enter() + (this.notify === "off" ? "" : FOCUS_ON);
  }

  /** What to write before the terminal is given back, once for every `enter`. */
  leave(): string {
    this.presence.forgetFocus();
    return (this.notify === "off" ? "" : FOCUS_OFF) + this.title.leave();
  }

  /** Takes note of input; true for what the terminal said of its focus, which is nobody else's. */
  readInput(data: string): boolean {
    return this.presence.readInput(data);
  }

  /** Shows what has become of a session, and calls if that is worth a call. */
  update(view: View): void {
    const title = this.title.update(view);
    if (title !== "") this.options.write(title);
    for (const reason of this.reasons.find(view, this.now)) this.call(reason);
  }

  private call(body: string): void {
    if (this.notify === "off" || !this.presence.isAway) return;
    const { environment } = this.options;
    const kind = this.notify === "bell" ? "bell" : chooseNotification(environment);
    this.options.write(
      notificationSequence({ title: titleText(this.project, "idle"), body }, { kind, environment }),
    );
  }
}
