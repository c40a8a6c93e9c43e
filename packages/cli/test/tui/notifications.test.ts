// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { beforeEach, describe, expect, test } from "bun:test";
import {
  chooseNotification,
  hasTitle,
  type NotificationSettings,
  Notifications,
  notificationSequence,
  titleText,
} from "../../src/tui/notifications.ts";
import { toShellCall } from "../../src/tui/shell-call.ts";
import { createView, type View } from "../../src/tui/view.ts";

const IDLE = createView({ cwd: "/x" });
const WORKING: View = { ...IDLE, activity: { type: "waiting", since: 0 } };

let clock = 0;
let written = "";
let notifications: Notifications;

beforeEach(() => {
  clock = 0;
});

function start(
  settings: NotificationSettings["settings"] = {},
  environment: Record<string, string> = {},
): void {
  notifications = new Notifications({
    environment: { TERM: "xterm-256color", ...environment },
    write: (sequence) => {
      written += sequence;
    },
    now: () => clock,
  });
  notifications.configure({ project: "shop", settings }, IDLE);
  written = "";
}

/** The output of a run of this duration. */
function work(durationMs: number): string {
  written = "";
  notifications.update(WORKING);
  clock += durationMs;
  notifications.update(IDLE);
  return written.replaceAll(/\x1b\]0;[^\x07]*\x07/g, "");
}

describe("the window title", () => {
  test("names the project, with a mark while a run is in progress or a question waits", () => {
    expect([titleText("shop", "idle"), titleText("shop", "working"), titleText("shop", "asking")]).toEqual([
      "diligent – shop",
      "● diligent – shop",
      "? diligent – shop",
    ]);
    expect(titleText("", "idle")).toBe("diligent");
  });

  test("has its mark during a shell command of the user, and a long one notifies at its end", () => {
    start();
    notifications.readInput("\x1b[O");
    const shell = toShellCall({ command: "make", isSharedWithModel: true }, 0);
    notifications.update({ ...IDLE, shell });
    expect(written).toBe("\x1b]0;● diligent – shop\x07");
    written = "";
    clock += 12_000;
    notifications.update(IDLE);
    expect(written).toBe("\x1b]0;diligent – shop\x07\x07");
  });

  test("is safe whatever the project's name is, and no longer than a tab", () => {
    expect(titleText("a\x07b\x1b]0;x\u202e\u009c", "idle")).toBe("diligent – a\\x07b\\x1b]0;x\\u{202e}\\x9c");
    expect(Bun.stringWidth(titleText("名".repeat(500), "idle"))).toBeLessThanOrEqual(51);
  });

  test("is written when it changes, and returned to the stack it was taken from", () => {
    start();
    expect(notifications.enter()).toBe("\x1b[22;0t\x1b]0;diligent – shop\x07\x1b[?1004h");
    notifications.update(WORKING);
    notifications.update({ ...WORKING, hint: "x" });
    expect(written).toBe("\x1b]0;● diligent – shop\x07");
    expect(notifications.leave()).toBe("\x1b[?1004l\x1b]0;\x07\x1b[23;0t");
  });

  test.each(["dumb", "linux", "vt100", ""])(
    "is left alone in a terminal that may not support it: %p",
    (TERM) => {
      expect(hasTitle({ TERM })).toBe(false);
      start({}, { TERM });
      expect(notifications.enter()).toBe("\x1b[?1004h");
    },
  );

  test("can be turned off together with notifications", () => {
    start({ title: false, notify: "off" });
    notifications.readInput("\x1b[O");
    expect([notifications.enter(), notifications.leave(), work(60_000)]).toEqual(["", "", ""]);
  });
});

describe("an absent user", () => {
  test("is notified when a turn of ten seconds or more has ended", () => {
    start();
    expect(notifications.readInput("\x1b[O")).toBe(true);
    expect(work(9_999)).toBe("");
    expect(work(10_000)).toBe("\x07");
  });

  test("is notified once about a question, however short the turn was", () => {
    start();
    notifications.readInput("\x1b[O");
    const dialog = { ...question(), scroll: 1 };
    notifications.update({ ...WORKING, dialog: question() });
    notifications.update({ ...WORKING, dialog });
    expect(written).toBe("\x1b]0;? diligent – shop\x07\x07");
  });

  test("is not notified once the focus is back, nor if the terminal never reported the focus", () => {
    start();
    expect(work(60_000)).toBe("");
    notifications.readInput("\x1b[O");
    notifications.readInput("\x1b[I");
    expect(work(60_000)).toBe("");
  });

  test("is notified in tmux, which may hide the focus, after ten seconds without a key", () => {
    start({}, { TMUX: "/tmp/tmux,1,0", TERM: "tmux-256color" });
    expect(work(10_000)).toBe("\x07");
    notifications.update(WORKING);
    clock += 20_000;
    expect(notifications.readInput("x")).toBe(false);
    expect(work(0)).toBe("");
  });

  test("gets the terminal's own message if it has one, unless the bell is configured", () => {
    const environment = { TERM: "xterm-kitty", KITTY_WINDOW_ID: "1" };
    start({}, environment);
    notifications.readInput("\x1b[O");
    expect(work(83_000)).toBe("\x1b]9;diligent – shop: done after 1 min 23 s\x07");
    start({ notify: "bell" }, environment);
    notifications.readInput("\x1b[O");
    expect(work(83_000)).toBe("\x07");
  });
});

function question(): NonNullable<View["dialog"]> & { type: "approval" } {
  return {
    type: "approval",
    content: [],
    hasAlways: false,
    stored: [],
    guardedUntil: 0,
    scroll: 0,
    wasEndSeen: true,
    isEditable: true,
  };
}

describe("the notification sequence", () => {
  test.each([
    [{ TERM_PROGRAM: "iTerm.app" }, "osc9"],
    [{ LC_TERMINAL: "iTerm2" }, "osc9"],
    [{ TERM: "xterm-kitty" }, "osc9"],
    [{ TERM_PROGRAM: "ghostty" }, "osc777"],
    [{ TERM: "xterm-ghostty" }, "osc777"],
    [{ TERM_PROGRAM: "WezTerm" }, "osc777"],
    [{ TERM: "foot-extra" }, "osc777"],
    [{ TERM: "rxvt-unicode-256color" }, "osc777"],
    [{ TERM: "xterm-256color" }, "bell"],
    [{ TERM_PROGRAM: "Apple_Terminal" }, "bell"],
    // Started from a shell in another terminal, whose variables it has inherited.
    [{ TERM_PROGRAM: "vscode", GHOSTTY_RESOURCES_DIR: "/x" }, "bell"],
    [{ TERM: "xterm-256color", KITTY_WINDOW_ID: "1" }, "bell"],
    [{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", TMUX: "/t,1,0", KITTY_WINDOW_ID: "1" }, "osc9"],
    [{ TERM: "screen", TMUX: "/t,1,0", WEZTERM_PANE: "0" }, "osc777"],
    [{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", TMUX: "/t,1,0" }, "bell"],
    [{ TERM: "screen", STY: "1.pts", TERM_PROGRAM: "iTerm.app" }, "bell"],
    [{}, "bell"],
  ] as const)("in %j is %s", (environment: Record<string, string>, kind) => {
    expect(chooseNotification(environment)).toBe(kind);
  });

  test("goes through tmux with doubled escapes, and rings for tmux itself", () => {
    const options = { kind: "osc777" as const, environment: { TMUX: "/t,1,0" } };
    expect(notificationSequence({ title: "a", body: "b" }, options)).toBe(
      "\x1bPtmux;\x1b\x1b]777;notify;a;b\x07\x1b\\\x07",
    );
  });

  test("cannot be broken out of", () => {
    const hostile = "x\x07\x1b]52;c;aGk=\x07\x9c;\n\x1b\\y";
    for (const kind of ["osc9", "osc777"] as const) {
      const sequence = notificationSequence({ title: hostile, body: hostile }, { kind, environment: {} });
      expect(sequence.match(/[\p{Cc}]/gu)).toEqual(["\x1b", "\x07"]);
      expect(sequence.split(";notify;")[1]?.split(";")[0] ?? "").not.toContain("y;");
    }
  });
});
