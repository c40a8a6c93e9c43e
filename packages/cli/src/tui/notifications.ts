import { now as clockNow } from "@diligent/core/light";
import type { DiligentConfig } from "@diligent/core/run";
import { toSingleLine } from "../text/terminal-text.ts";
import { formatDuration } from "./text.ts";
import { isWorking, type View } from "./view.ts";

/** What it works with from the beginning. */
interface NotificationOptions {
  environment: Readonly<Record<string, string | undefined>>;
  /** Writes to the terminal while it is ours; what moves no cursor. */
  write(sequence: string): void;
  /** Milliseconds. */
  now?: () => number;
}

/** What it is told once it is known. */
export interface NotificationSettings {
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
export class Notifications {
  private readonly now: () => number;
  private readonly presence: Presence;
  private readonly reasons = new CallReasons();
  private readonly title = new WindowTitle();
  private project = "";
  private notify: "auto" | "bell" | "off" = "off";

  constructor(private readonly options: NotificationOptions) {
    this.now = options.now ?? clockNow;
    this.presence = new Presence({ environment: options.environment, now: this.now });
  }

  /** Begins, or goes on for another session, with a title that suits its view. */
  configure({ project, settings = {} }: NotificationSettings, view: View): void {
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

// A turn that took less was waited for.
const LONG_TURN_MS = 10_000;

/** Finds in a session's views what somebody who is away is to be called for. */
class CallReasons {
  private workingSince: number | undefined;
  private isAsking = false;

  /** What has come up since the last view, in words behind the session's name. `now` is in milliseconds. */
  find(view: View, now: () => number): string[] {
    return [...this.findQuestion(view), ...this.findEnd(view, now)];
  }

  private findQuestion(view: View): string[] {
    const wasAsking = this.isAsking;
    this.isAsking = view.dialog?.type === "approval";
    return this.isAsking && !wasAsking ? ["waits for your answer"] : [];
  }

  private findEnd(view: View, now: () => number): string[] {
    const since = this.workingSince;
    if (isWorking(view)) {
      this.workingSince ??= now();
      return [];
    }
    this.workingSince = undefined;
    const durationMs = since === undefined ? 0 : now() - since;
    return durationMs >= LONG_TURN_MS ? [`done after ${formatDuration(durationMs)}`] : [];
  }
}

/** Lets the terminal tell when its window gets and loses the focus. */
const FOCUS_ON = "\x1b[?1004h";
/** Ends what `FOCUS_ON` began. */
const FOCUS_OFF = "\x1b[?1004l";

/** What the terminal tells of its focus; undefined where the input is something else. */
function readFocus(input: string): "in" | "out" | undefined {
  if (input === "\x1b[I") return "in";
  return input === "\x1b[O" ? "out" : undefined;
}

/** How a terminal is asked to call somebody: a message by OSC 9 or OSC 777, or its bell. */
type NotificationKind = "osc9" | "osc777" | "bell";

type Environment = Readonly<Record<string, string | undefined>>;

const BELL = "\x07";
const MAX_COLUMNS = 120;

interface KnownTerminal {
  kind: NotificationKind;
  /** Its own `TERM_PROGRAM`. */
  program?: string;
  /** Its own `TERM`. */
  term?: RegExp;
  /** A variable that it leaves in the environment of everything started in it. */
  trace?: string;
}

/** Terminals whose documentation promises the message. For all others it is the bell, which every terminal knows. */
const KNOWN_TERMINALS: readonly KnownTerminal[] = [
  { kind: "osc9", program: "iTerm.app", trace: "ITERM_SESSION_ID" },
  { kind: "osc9", term: /^xterm-kitty$/, trace: "KITTY_WINDOW_ID" },
  { kind: "osc777", program: "ghostty", term: /^xterm-ghostty$/, trace: "GHOSTTY_RESOURCES_DIR" },
  { kind: "osc777", program: "WezTerm", term: /^wezterm$/, trace: "WEZTERM_PANE" },
  { kind: "osc777", program: "WarpTerminal" },
  { kind: "osc777", term: /^(?:foot|rxvt-unicode)/ },
];

/** What the terminal that the user looks at is known to understand. */
export function chooseNotification(environment: Environment): NotificationKind {
  const isTmux = isInTmux(environment);
  // GNU screen has no way through that could be relied on.
  if (isInMultiplexer(environment) && !isTmux) return "bell";
  const { TERM = "", TERM_PROGRAM: program = "" } = environment;
  const known = KNOWN_TERMINALS.find((terminal) => {
    // tmux puts its own names in place of the terminal's; elsewhere a trace may be that of a terminal further out.
    if (isTmux) return terminal.trace !== undefined && Boolean(environment[terminal.trace]);
    return program === "" ? terminal.term?.test(TERM) : terminal.program === program;
  });
  // Handed on by ssh, which hands on no more than that.
  if (known === undefined && environment.LC_TERMINAL === "iTerm2") return "osc9";
  return known?.kind ?? "bell";
}

/**
 * What calls the user. In tmux it is the bell, which marks the window and is handed on as its owner has set it, and the
 * message goes through to the terminal around it, where that is allowed.
 * @param body somebody else's words may be in it.
 */
export function notificationSequence(
  { title, body }: { title: string; body: string },
  { kind, environment }: { kind: NotificationKind; environment: Environment },
): string {
  if (kind === "bell") return BELL;
  const text = toSingleLine(body, MAX_COLUMNS);
  // A field ends at a semicolon.
  const field = toSingleLine(title, MAX_COLUMNS).replaceAll(";", ",");
  const message =
    kind === "osc9" ? `\x1b]9;${field}: ${text}${BELL}` : `\x1b]777;notify;${field};${text}${BELL}`;
  return isInTmux(environment) ? `${throughTmux(message)}${BELL}` : message;
}

function isInTmux({ TMUX }: Environment): boolean {
  return Boolean(TMUX);
}

/** A multiplexer may be what sits between the terminal and us, and keep its focus to itself. */
function isInMultiplexer(environment: Environment): boolean {
  const { STY, TERM = "" } = environment;
  return isInTmux(environment) || Boolean(STY) || /^(?:screen|tmux)/.test(TERM);
}

// Where nobody tells the focus, who has pressed no key for so long may be elsewhere.
const ABSENCE_MS = 10_000;

interface PresenceDeps {
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds. */
  now(): number;
}

/** Whether somebody looks at the terminal, as far as can be told from what comes in. */
class Presence {
  private focus: "in" | "out" | undefined;
  private lastKeyAt: number;

  constructor(private readonly parts: PresenceDeps) {
    this.lastKeyAt = parts.now();
  }

  /** Takes note of input; true for what the terminal said of its focus, which is nobody else's. */
  readInput(data: string): boolean {
    const focus = readFocus(data);
    if (focus === undefined) this.lastKeyAt = this.parts.now();
    this.focus = focus ?? this.focus;
    return focus !== undefined;
  }

  /** The terminal is given back: what happens to the focus from here on is not told to us. */
  forgetFocus(): void {
    this.focus = undefined;
  }

  /** A terminal that says nothing had the focus when it was typed in; a multiplexer may only keep it to itself. */
  get isAway(): boolean {
    const { environment, now } = this.parts;
    if (this.focus !== undefined) return this.focus === "out";
    return isInMultiplexer(environment) && now() - this.lastKeyAt >= ABSENCE_MS;
  }
}

/** What the title shows of a session: nothing to do, a run that goes on, a question that waits. */
type TitleState = "idle" | "working" | "asking";

// What a tab shows of a title is short as a rule.
const MAX_PROJECT_COLUMNS = 40;
const MARKS: Readonly<Record<TitleState, string>> = { idle: "", working: "● ", asking: "? " };

/** Keeps the terminal's title on a stack, and takes it from there again; terminals without one pass over it. */
const PUSH_TITLE = "\x1b[22;0t";
/** Ends what `PUSH_TITLE` began, once for each. */
const POP_TITLE = "\x1b[23;0t";

/** A question goes before the run that waits for its answer. */
function titleState(view: Pick<View, "activity" | "dialog" | "shell">): TitleState {
  if (view.dialog?.type === "approval") return "asking";
  return isWorking(view) ? "working" : "idle";
}

/** `● diligent – project`. The project's name is somebody else's text. */
export function titleText(project: string, state: TitleState): string {
  const name = toSingleLine(project, MAX_PROJECT_COLUMNS);
  return `${MARKS[state]}diligent${name === "" ? "" : ` – ${name}`}`;
}

/** Window title and icon name. Ended by BEL, which more terminals know than ST. */
function titleSequence(text: string): string {
  return `\x1b]0;${text}\x07`;
}

/** False for terminals that would show the sequence as text, or have no title: the Linux console and the real old ones. */
export function hasTitle({ TERM = "" }: Readonly<Record<string, string | undefined>>): boolean {
  return TERM !== "" && !/^(?:dumb|linux|cons25|vt\d|ansi|unknown)/.test(TERM);
}

/** A sequence for the terminal around tmux, which hands it on where `allow-passthrough` is on. */
export function throughTmux(sequence: string): string {
  return `\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`;
}

/** Whose title it is, and whether it is written at all. */
interface TitleSettings {
  project: string;
  isShown: boolean;
}

/** The terminal's title as it was last written. Each method returns what is to be written, which is often nothing. */
class WindowTitle {
  private settings: TitleSettings = { project: "", isShown: false };
  private text = "";

  /** To be called between `leave` and `enter`, which writes the title of the view. */
  configure(settings: TitleSettings, view: View): void {
    this.settings = settings;
    this.text = this.textOf(view);
  }

  /** The terminal has been taken. */
  enter(): string {
    return this.settings.isShown ? PUSH_TITLE + titleSequence(this.text) : "";
  }

  /** The terminal is about to be given back. */
  leave(): string {
    // A terminal without a stack goes back to its usual title for an empty one.
    return this.settings.isShown ? titleSequence("") + POP_TITLE : "";
  }

  /** The view has changed. */
  update(view: View): string {
    const text = this.textOf(view);
    if (!this.settings.isShown || text === this.text) return "";
    this.text = text;
    return titleSequence(text);
  }

  private textOf(view: View): string {
    return titleText(this.settings.project, titleState(view));
  }
}
