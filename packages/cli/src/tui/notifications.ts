import { now as clockNow } from "@diligent/core/light";
import type { DiligentConfig } from "@diligent/core/run";
import { toSingleLine } from "../text/terminal-text.ts";
import { formatDuration } from "./text.ts";
import { isWorking, type View } from "./view.ts";

/** The dependencies that are known from the beginning. */
interface NotificationOptions {
  environment: Readonly<Record<string, string | undefined>>;
  /** Writes to the terminal while we own it; must not move the cursor. */
  write(sequence: string): void;
  /** Milliseconds. */
  now?: () => number;
}

/** The configuration, once it is known. */
export interface NotificationSettings {
  /** The project's name, which is that of its directory. */
  project: string;
  /** See `terminal` in the configuration. */
  settings: DiligentConfig["terminal"];
}

/**
 * Signals for a user who is looking elsewhere: the terminal's title, and a notification when a long turn has
 * ended or a question is waiting. Does nothing before `configure`. Write `enter` whenever the terminal is
 * taken, and `leave` whenever it is restored.
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

  /** Starts, or switches to another session, with a title that matches its view. */
  configure({ project, settings = {} }: NotificationSettings, view: View): void {
    this.options.write(this.leave());
    this.project = project;
    this.notify = settings.notify ?? "auto";
    const isShown = settings.title !== false && hasTitle(this.options.environment);
    this.title.configure({ project, isShown }, view);
    this.options.write(this.enter());
  }

  /** To write when the terminal has been taken. */
  enter(): string {
    return this.title.enter() + (this.notify === "off" ? "" : FOCUS_ON);
  }

  /** To write before the terminal is restored, once per `enter`. */
  leave(): string {
    this.presence.forgetFocus();
    return (this.notify === "off" ? "" : FOCUS_OFF) + this.title.leave();
  }

  /** Examines input. Returns true for a focus report of the terminal, which nobody else needs. */
  readInput(data: string): boolean {
    return this.presence.readInput(data);
  }

  /** Shows the new state of the session, and notifies the user if it is important. */
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

// The user was waiting for a shorter turn anyway.
const LONG_TURN_MS = 10_000;

/** Finds changes between the views of a session that an absent user should be notified of. */
class CallReasons {
  private workingSince: number | undefined;
  private isAsking = false;

  /**
   * What has happened since the last view, as words to follow the session's name. `now` is in milliseconds.
   */
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

/** Makes the terminal report when its window gains or loses focus. */
const FOCUS_ON = "\x1b[?1004h";
/** Ends what `FOCUS_ON` started. */
const FOCUS_OFF = "\x1b[?1004l";

/** The focus report in the input; undefined for any other input. */
function readFocus(input: string): "in" | "out" | undefined {
  if (input === "\x1b[I") return "in";
  return input === "\x1b[O" ? "out" : undefined;
}

/** How to notify the user through the terminal: a message by OSC 9 or OSC 777, or its bell. */
type NotificationKind = "osc9" | "osc777" | "bell";

type Environment = Readonly<Record<string, string | undefined>>;

const BELL = "\x07";
const MAX_COLUMNS = 120;

interface KnownTerminal {
  kind: NotificationKind;
  /** The `TERM_PROGRAM` that it sets. */
  program?: string;
  /** The `TERM` that it sets. */
  term?: RegExp;
  /** A variable that it sets in the environment of every process started in it. */
  trace?: string;
}

/**
 * Terminals whose documentation promises the message. All others get the bell, which every terminal supports.
 */
const KNOWN_TERMINALS: readonly KnownTerminal[] = [
  { kind: "osc9", program: "iTerm.app", trace: "ITERM_SESSION_ID" },
  { kind: "osc9", term: /^xterm-kitty$/, trace: "KITTY_WINDOW_ID" },
  { kind: "osc777", program: "ghostty", term: /^xterm-ghostty$/, trace: "GHOSTTY_RESOURCES_DIR" },
  { kind: "osc777", program: "WezTerm", term: /^wezterm$/, trace: "WEZTERM_PANE" },
  { kind: "osc777", program: "WarpTerminal" },
  { kind: "osc777", term: /^(?:foot|rxvt-unicode)/ },
];

/** What the user's terminal is known to understand. */
export function chooseNotification(environment: Environment): NotificationKind {
  const isTmux = isInTmux(environment);
  // GNU screen has no reliable passthrough.
  if (isInMultiplexer(environment) && !isTmux) return "bell";
  const { TERM = "", TERM_PROGRAM: program = "" } = environment;
  const known = KNOWN_TERMINALS.find((terminal) => {
    // tmux replaces the terminal's names with its own; elsewhere, a variable may come from an outer terminal.
    if (isTmux) return terminal.trace !== undefined && Boolean(environment[terminal.trace]);
    return program === "" ? terminal.term?.test(TERM) : terminal.program === program;
  });
  // ssh forwards this variable and no other.
  if (known === undefined && environment.LC_TERMINAL === "iTerm2") return "osc9";
  return known?.kind ?? "bell";
}

/**
 * The sequence that notifies the user. In tmux it is the bell, which marks the window and is forwarded as its
 * owner has configured, and the message is passed through to the outer terminal if that is allowed.
 * @param body may contain text from others.
 */
export function notificationSequence(
  { title, body }: { title: string; body: string },
  { kind, environment }: { kind: NotificationKind; environment: Environment },
): string {
  if (kind === "bell") return BELL;
  const text = toSingleLine(body, MAX_COLUMNS);
  // A semicolon ends a field.
  const field = toSingleLine(title, MAX_COLUMNS).replaceAll(";", ",");
  const message =
    kind === "osc9" ? `\x1b]9;${field}: ${text}${BELL}` : `\x1b]777;notify;${field};${text}${BELL}`;
  return isInTmux(environment) ? `${throughTmux(message)}${BELL}` : message;
}

function isInTmux({ TMUX }: Environment): boolean {
  return Boolean(TMUX);
}

/** A multiplexer may sit between the terminal and us, and keep focus reports to itself. */
function isInMultiplexer(environment: Environment): boolean {
  const { STY, TERM = "" } = environment;
  return isInTmux(environment) || Boolean(STY) || /^(?:screen|tmux)/.test(TERM);
}

// Without focus reports, a user who has pressed no key for this long may be elsewhere.
const ABSENCE_MS = 10_000;

interface PresenceDeps {
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds. */
  now(): number;
}

/** Whether the user is looking at the terminal, as far as the input shows. */
class Presence {
  private focus: "in" | "out" | undefined;
  private lastKeyAt: number;

  constructor(private readonly deps: PresenceDeps) {
    this.lastKeyAt = deps.now();
  }

  /** Examines input. Returns true for a focus report of the terminal, which nobody else needs. */
  readInput(data: string): boolean {
    const focus = readFocus(data);
    if (focus === undefined) this.lastKeyAt = this.deps.now();
    this.focus = focus ?? this.focus;
    return focus !== undefined;
  }

  /** Call when the terminal is restored: later focus changes are not reported. */
  forgetFocus(): void {
    this.focus = undefined;
  }

  /** A silent terminal had the focus when a key was pressed; a multiplexer may be hiding its reports. */
  get isAway(): boolean {
    const { environment, now } = this.deps;
    if (this.focus !== undefined) return this.focus === "out";
    return isInMultiplexer(environment) && now() - this.lastKeyAt >= ABSENCE_MS;
  }
}

/** The state of a session as shown in the title: idle, running, or waiting for an answer. */
type TitleState = "idle" | "working" | "asking";

// Tabs usually show only the beginning of a title.
const MAX_PROJECT_COLUMNS = 40;
const MARKS: Readonly<Record<TitleState, string>> = { idle: "", working: "● ", asking: "? " };

/**
 * Saves the terminal's title on a stack, and restores it later; terminals without a stack ignore the
 * sequence.
 */
const PUSH_TITLE = "\x1b[22;0t";
/** Undoes `PUSH_TITLE`, once per push. */
const POP_TITLE = "\x1b[23;0t";

/** A question takes precedence over the run that waits for its answer. */
function titleState(view: Pick<View, "activity" | "dialog" | "shell">): TitleState {
  if (view.dialog?.type === "approval") return "asking";
  return isWorking(view) ? "working" : "idle";
}

/** `● diligent – project`. The project's name is text from others. */
export function titleText(project: string, state: TitleState): string {
  const name = toSingleLine(project, MAX_PROJECT_COLUMNS);
  return `${MARKS[state]}diligent${name === "" ? "" : ` – ${name}`}`;
}

/** Window title and icon name. Ended by BEL, which more terminals support than ST. */
function titleSequence(text: string): string {
  return `\x1b]0;${text}\x07`;
}

/**
 * False for terminals that would show the sequence as text or have no title: the Linux console and real old
 * terminals.
 */
export function hasTitle({ TERM = "" }: Readonly<Record<string, string | undefined>>): boolean {
  return TERM !== "" && !/^(?:dumb|linux|cons25|vt\d|ansi|unknown)/.test(TERM);
}

/** A sequence for the terminal around tmux, which forwards it if `allow-passthrough` is on. */
export function throughTmux(sequence: string): string {
  return `\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`;
}

/** Whose title it is, and whether it may be written. */
interface TitleSettings {
  project: string;
  isShown: boolean;
}

/** The terminal's title as last written. Each method returns what to write, which is often nothing. */
class WindowTitle {
  private settings: TitleSettings = { project: "", isShown: false };
  private text = "";

  /** Call it between `leave` and `enter`; `enter` then writes the view's title. */
  configure(settings: TitleSettings, view: View): void {
    this.settings = settings;
    this.text = this.textOf(view);
  }

  /** Call when the terminal has been taken. */
  enter(): string {
    return this.settings.isShown ? PUSH_TITLE + titleSequence(this.text) : "";
  }

  /** Call when the terminal is about to be restored. */
  leave(): string {
    // A terminal without a stack returns to its usual title for an empty one.
    return this.settings.isShown ? titleSequence("") + POP_TITLE : "";
  }

  /** Call when the view has changed. */
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
