import { readFileSync } from "node:fs";
import { bareEnvironment, PROGRAM } from "./run-diligent.ts";
import type { TemporaryProject } from "./temporary-project.ts";

export interface TerminalProgram {
  /** Everything that the terminal received so far. */
  readonly screen: string;
  /** Types text; `\r` is Enter, `\x03` Ctrl+C, `\x04` Ctrl+D. */
  type(text: string): void;
  /** Types a line and resolves once the program has read it: a later Ctrl+C would make the terminal drop it. */
  typeAndRead(text: string): Promise<void>;
  /** Resolves once the screen has shown `text`, wrapped or not, since the last successful call. */
  shown(text: string): Promise<void>;
  process: Bun.Subprocess;
  exitCode: Promise<number>;
}

/** Starts the real program in a real terminal of 80 columns. */
export function runInTerminal(
  place: TemporaryProject,
  args: readonly string[],
  environment: Record<string, string> = {},
): TerminalProgram {
  const decoder = new TextDecoder();
  let screen = "";
  let seen = 0;
  const child = Bun.spawn([PROGRAM, ...args], {
    cwd: place.project,
    env: { ...bareEnvironment(place), TERM: "dumb", ...environment },
    timeout: 50_000,
    killSignal: "SIGKILL",
    terminal: {
      cols: 80,
      rows: 24,
      data(_, bytes) {
        screen += decoder.decode(bytes, { stream: true });
      },
    },
  });
  return {
    get screen() {
      return screen;
    },
    type: (text) => void child.terminal?.write(text),
    async typeAndRead(text) {
      const before = charactersReadBy(child.pid);
      child.terminal?.write(text);
      while (charactersReadBy(child.pid) < before + text.length) await Bun.sleep(5);
    },
    async shown(text) {
      const words = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/(?<=\S) (?=\S|$)/g, "\\s+");
      const pattern = new RegExp(words);
      let found: RegExpExecArray | null = null;
      for (; found === null; found = pattern.exec(screen.slice(seen))) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`Ended without showing ${JSON.stringify(text)}: ${screen}`);
        await Bun.sleep(5);
      }
      seen += found.index + found[0].length;
    },
    process: child,
    exitCode: child.exited,
  };
}

function charactersReadBy(pid: number): number {
  const [, count = "0"] = /^rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, "utf8")) ?? [];
  return Number(count);
}
