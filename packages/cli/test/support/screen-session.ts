import { expect } from "bun:test";
import { writeUserConfig } from "./compatible-service.ts";
import { type PtyOptions, type PtyProgram, startInPty } from "./pty-program.ts";
import { createTemporaryProject, type TemporaryProject } from "./temporary-project.ts";
import { findForeignBytes, OPEN_FRAME } from "./terminal-bytes.ts";

export const KEYS = {
  enter: "\r",
  escape: "\x1b",
  up: "\x1b[A",
  down: "\x1b[B",
  altUp: "\x1b[1;3A",
  altEnter: "\x1b\r",
  shiftEnter: "\x1b[13;2u",
  shiftTab: "\x1b[Z",
  tab: "\t",
  backspace: "\x7f",
  ctrlC: "\x03",
  ctrlD: "\x04",
  ctrlJ: "\n",
  ctrlR: "\x12",
} as const;

export type KeyName = keyof typeof KEYS;

// A question accepts no answer before somebody could have seen it.
const GUARD_MS = 420;
const TOO_EARLY = "The question just appeared: press the key again";

export interface ScreenOptions extends PtyOptions {
  /** The model's replies, one per request. */
  turns?: readonly (string | object)[];
  summaries?: readonly (string | object)[];
  contextWindow?: number;
  args?: readonly string[];
  /** The user's configuration; by default commands run without a sandbox. */
  config?: object;
  /** Where it runs; default: a new project, which is removed afterwards. */
  place?: TemporaryProject;
}

/**
 * The real interactive program on a separate screen, with a scripted model. When it is disposed of, every
 * byte that it has written is checked.
 */
export class ScreenSession implements AsyncDisposable {
  readonly place: TemporaryProject;
  readonly program: PtyProgram;
  private readonly isOwnPlace: boolean;
  private isCrashed = false;
  private isOver = false;

  constructor(options: ScreenOptions = {}) {
    const { turns, summaries, contextWindow, args = [] } = options;
    this.isOwnPlace = options.place === undefined;
    this.place = options.place ?? createTemporaryProject();
    // Sandboxed commands need no approval, and not every machine has a sandbox.
    const config = options.config ?? { sandbox: "off" };
    if (this.isOwnPlace || options.config) writeUserConfig(this.place, config);
    if (turns) {
      const script = {
        version: 1,
        contextWindow,
        turns: turns.map(toTurn),
        summaries: summaries?.map(toTurn),
      };
      this.place.write("script.json", script);
    }
    this.program = startInPty(this.place, ["--model", "scripted/script.json", ...args], options);
  }

  /** Resolves once the session is open: the status line then names the model. */
  async opened(): Promise<this> {
    await this.shows(/^(scripted\/)?script\.json ·/m);
    return this;
  }

  /** Types a prompt and sends it when it is on the screen. */
  async say(text: string): Promise<void> {
    this.program.send(text);
    await this.shows(text.slice(-10));
    this.program.send(KEYS.enter);
  }

  press(...keys: KeyName[]): void {
    for (const key of keys) this.program.send(KEYS[key]);
  }

  /** Waits for the question about `subject` and answers it. */
  async answer(subject: string, key: string): Promise<void> {
    await this.shows(subject);
    await this.shows(/y yes|a apply|↓ or Space/);
    await Bun.sleep(GUARD_MS);
    this.program.send(key);
    void this.repeatTooEarly(key);
  }

  /** Does what the program asks for: a busy machine may have shown the question later than it seemed. */
  private async repeatTooEarly(key: string): Promise<void> {
    const isAsked = () =>
      !this.isOver && this.program.terminal.screen().some((row) => row.includes(TOO_EARLY));
    for (let look = 0; look < 50 && !this.isOver; look++) {
      await Bun.sleep(GUARD_MS / 4);
      if (!isAsked()) continue;
      await Bun.sleep(GUARD_MS);
      if (isAsked()) this.program.send(key);
      return;
    }
  }

  /** Allows `subject` permanently, with the key for the scope, and confirms what is stored. */
  async allowAlways(subject: string, key: "a" | "p"): Promise<void> {
    await this.answer(subject, key);
    await this.answer("? Always allow this", "y");
  }

  async shows(text: string | RegExp): Promise<void> {
    await this.program.waitFor(text);
  }

  /** Resolves once this has been shown, even if it was scrolled away or replaced since. */
  async hasShown(text: string): Promise<void> {
    await this.program.waitUntil(
      (_, terminal) => terminal.bytes.includes(text) || terminal.lines().some((line) => line.includes(text)),
    );
  }

  /** Resolves once the whole screen, without what differs from run to run, is this text or matches this. */
  async looksLike(expected: string | RegExp): Promise<void> {
    const matches = (text: string) =>
      typeof expected === "string" ? text === expected : expected.test(text);
    try {
      await this.program.waitUntil((rows) => matches(this.mask(rows)));
    } catch {
      // Shows the difference.
      const shown = await this.screen();
      if (typeof expected === "string") expect(shown).toBe(expected);
      else expect(shown).toMatch(expected);
    }
  }

  /** The screen once nothing changes any more, without what differs from run to run. */
  async screen(quietMs = 80): Promise<string> {
    return this.mask(await this.program.settle(quietMs));
  }

  /** Resolves once the run has ended and the screen shows it. */
  async rests(): Promise<void> {
    await this.program.waitUntil((rows) => !rows.some((row) => row.includes("Esc to stop")));
    await this.program.settle();
  }

  /** All rows, starting with those above the screen. */
  async scrollback(): Promise<string> {
    return this.mask(await this.program.scrollback());
  }

  /** Quits with `/quit`, which restores the terminal. Returns its whole content. */
  async quit(): Promise<string> {
    await this.say("/quit");
    expect(await this.program.exitCode).toBe(0);
    return this.scrollback();
  }

  /** Ends it like a power failure. */
  async crash(): Promise<void> {
    this.isCrashed = true;
    await this.program[Symbol.asyncDispose]();
  }

  private mask(rows: readonly string[]): string {
    const text = rows.map((row) => row.trimEnd()).join("\n");
    return (
      text
        .replaceAll(this.place.project, "PROJECT")
        .replaceAll(this.place.top, "TOP")
        .replace(/(?<=Thought for |· |\()\d+(?:\.\d)? s\b/g, "N s")
        // A call shows its duration from one second on.
        .replace(/^(• .*) · N s$/gm, "$1")
        .replace(/^\S+ · .*\d+% context.*$/gm, "(status)")
        .replace(/^warning: (?=stopped|interrupted)/gm, "")
        .replace(/^diligent \d[\s\S]{0,200}?\/\sfor\scommands\s*/m, "")
        .replace(/^To continue: diligent .*$/gm, "")
        .replace(/^Resuming session .*$/gm, "(resuming)")
        .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠋")
        .trimEnd()
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isOver = true;
    await this.program[Symbol.asyncDispose]();
    if (this.isOwnPlace) this.place.remove();
    const found = findForeignBytes(this.program.bytes);
    expect(found.filter((each) => each !== OPEN_FRAME || !this.isCrashed)).toEqual([]);
  }
}

function toTurn(turn: string | object): object {
  return typeof turn === "string" ? { text: turn } : turn;
}

/** Lines written below each other in a test. */
export function lines(...rows: readonly string[]): string {
  return rows.join("\n");
}
