// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { expect } from "bun:test";
import { type PtyOptions, type PtyProgram, startInPty } from "./pty-program.ts";
import type { TemporaryProject } from "./temporary-project.ts";

/** Starts a command in a shell that reports how it ended, and the terminal's state afterwards. */
export function startInShell(place: TemporaryProject, command: string, options: PtyOptions = {}): PtyProgram {
  const script = `echo before; ${command}; echo "code $?"; stty -a | tr ';' '\\n'; sleep 0.2`;
  // Room for the whole final report.
  return startInPty(place, [], { rows: 60, ...options, program: ["sh", "-c", script] });
}

/** The process that the shell has started and waits for. */
export function childOf(program: PtyProgram): number {
  const { stdout } = Bun.spawnSync(["pgrep", "-P", String(program.process.pid)]);
  return Number(stdout.toString().trim());
}

/** What must hold of a restored terminal, once the shell has reported its state. */
export async function expectRestored(program: PtyProgram): Promise<void> {
  const { terminal } = program;
  await program.waitFor(/iexten/);
  expectModesOff(program);
  expect(terminal.modes.bracketedPasteMode).toBe(false);
  const flags = terminal.scrollback().join(" ");
  for (const flag of ["icanon", "echo", "isig", "icrnl", "opost"])
    expect(flags).toMatch(new RegExp(`(?<![-\\w])${flag}\\b`));
}

/** As far as the terminal itself knows, except for bracketed paste, which a shell uses too. */
export function expectModesOff({ terminal }: Pick<PtyProgram, "terminal">): void {
  expect({
    ...terminal.modes,
    isCursorVisible: terminal.cursor().isVisible,
    isAlternate: terminal.isAlternate,
    title: terminal.title,
    keyboard: count(terminal.bytes, "\x1b[>7u") - count(terminal.bytes, "\x1b[<u"),
    titles: count(terminal.bytes, "\x1b[22;0t") - count(terminal.bytes, "\x1b[23;0t"),
    // xterm.js does not track modifyOtherKeys, so the last sequence is checked.
    otherKeys: terminal.bytes.match(/\x1b\[>4;\dm/g)?.at(-1),
  }).toMatchObject({
    mouseTrackingMode: "none",
    sendFocusMode: false,
    synchronizedOutputMode: false,
    wraparoundMode: true,
    isCursorVisible: true,
    isAlternate: false,
    title: "",
    keyboard: 0,
    titles: 0,
    otherKeys: "\x1b[>4;0m",
  });
}

function count(text: string, sequence: string): number {
  return text.split(sequence).length - 1;
}
