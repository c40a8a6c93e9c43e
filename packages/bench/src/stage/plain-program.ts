import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TerminalRun } from "../measure/terminal-run.ts";
import { writeScript } from "./programs.ts";
import { createProject } from "./project.ts";
import type { Stage } from "./stage.ts";

/** What a program without a screen writes, and how fast; `timeLimitMs` as in `TerminalOptions`. */
export interface PlainText {
  text: string;
  /** Written so many characters at a time, with so long between them. */
  chunkChars: number;
  chunkDelayMs: number;
  timeLimitMs?: number;
}

// Without a text it only echoes.
const PLAIN_PROGRAM = `
import { readFileSync } from "node:fs";
const { text, chunkChars, chunkDelayMs } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
process.stdin.setRawMode(true);
process.stdin.on("data", (keys) => process.stdout.write(keys));
process.stdout.write("> ");
for (let at = 0; at < text.length; at += chunkChars) {
  await Bun.sleep(chunkDelayMs);
  process.stdout.write(text.slice(at, at + chunkChars).replaceAll("\\n", "\\r\\n"));
}
`;

/** Starts a program that does the least: it writes a text piece by piece, echoes each key, and waits. */
export function startPlainProgram(stage: Stage, { timeLimitMs, ...text }: PlainText): TerminalRun {
  const directory = stage.scratch.makeDirectory("plain");
  const content = join(directory, "text.json");
  writeFileSync(content, JSON.stringify(text));
  return new TerminalRun({
    argv: [writeScript(directory, PLAIN_PROGRAM), content],
    cwd: createProject(stage.scratch),
    environment: stage.environment(),
    ...(timeLimitMs !== undefined && { timeLimitMs }),
  });
}

/** A text that takes the plain program no time. */
export const NO_TEXT: PlainText = { text: "", chunkChars: 1, chunkDelayMs: 0 };
