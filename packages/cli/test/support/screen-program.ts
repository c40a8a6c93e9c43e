import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { SIGNAL_EXIT_CODES } from "../../src/errors.ts";
import { createProcessIo } from "../../src/io/process-io.ts";
import { InlineScreen } from "../../src/tui/screen/inline-screen.ts";
import { TerminalGuard } from "../../src/tui/screen/terminal-guard.ts";

/**
 * A program with only a screen, which the tests run in a terminal. Every key is shown; some have an effect: f
 * finishes a line, q quits, x exits at once, t throws, r rejects, z suspends, l lends the terminal, m turns
 * on every mode.
 */

const io = createProcessIo();
const { terminal } = await io.openTerminal();
const screen = new InlineScreen(terminal, { environment: process.env });
const guard = new TerminalGuard(screen, process);
let typed = "";
let finished = 0;

const fail = (error: unknown) => {
  io.stderr.write(`failed: ${error instanceof Error ? error.message : error}\n`);
  void io.leave(1);
};
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
io.onExit(() => guard.leave());
io.onSignal((signal) => void io.leave(SIGNAL_EXIT_CODES[signal]));

const ACTIONS: Readonly<Record<string, () => void>> = {
  f: () => screen.finish([`finished ${++finished} ${"x".repeat(Number(process.argv[2] ?? 0))}`.trim()]),
  q: () => void io.leave(0),
  x: () => process.exit(7),
  t: () =>
    void setTimeout(() => {
      throw new Error("thrown");
    }),
  r: () => void Promise.reject(new Error("rejected")),
  z: () => void guard.suspend(),
  l: () =>
    void guard.lend(
      () =>
        Bun.spawn(["sh", "-c", "echo lent; sleep 0.1"], { stdio: ["inherit", "inherit", "inherit"] }).exited,
    ),
  m: () => screen.terminal.write("\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2031h\x1b[?7l\x1b[1;31m"),
};

screen.addInputListener((data) => {
  typed += data;
  for (const key of data) ACTIONS[key]?.();
  screen.requestRender(data === "R");
  return { consume: true };
});
screen.addChild({
  render: (width) => [
    "─".repeat(width),
    `> ${typed}${CURSOR_MARKER}`,
    `status of ${width} columns ${"s".repeat(Math.max(0, width - 24))}`,
  ],
  invalidate() {},
});
guard.hold();
