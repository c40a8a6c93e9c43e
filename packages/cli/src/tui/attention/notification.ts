import { toSingleLine } from "../../terminal-text.ts";
import { throughTmux } from "./through-tmux.ts";

/** How a terminal is asked to call somebody: a message by OSC 9 or OSC 777, or its bell. */
export type NotificationKind = "osc9" | "osc777" | "bell";

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
export function isInMultiplexer(environment: Environment): boolean {
  const { STY, TERM = "" } = environment;
  return isInTmux(environment) || Boolean(STY) || /^(?:screen|tmux)/.test(TERM);
}
