import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TerminalRun } from "../measure/terminal-run.ts";
import { createProject } from "./project.ts";
import type { Program, Stage } from "./stage.ts";

/** A reply of the scripted model; see docs/scripted-provider.md. */
export interface ScriptedTurn {
  text?: string;
  toolCalls?: readonly { name: string; input: object }[];
  delayMs?: number;
  chunkDelayMs?: number;
  chunkChars?: number;
}

/** A program and the script of its model; `timeLimitMs` as in `TerminalOptions`. */
export interface ScreenOptions {
  program: Program;
  turns: readonly ScriptedTurn[];
  /** Replies to requests for a summary, where the conversation gets long. */
  summaries?: readonly ScriptedTurn[];
  timeLimitMs?: number;
}

/** What the first frame ends with. */
export const FRAME_END = "\x1b[?2026l";

/** Starts the interactive screen in a new project, with everything allowed. */
export function startScreen(
  stage: Stage,
  { program, turns, summaries, timeLimitMs }: ScreenOptions,
): TerminalRun {
  const script = join(stage.scratch.makeDirectory("script"), "script.json");
  writeFileSync(script, JSON.stringify({ version: 1, turns, summaries }));
  return new TerminalRun({
    argv: [program.path, "--approval", "auto", "--model", `scripted/${script}`],
    cwd: createProject(stage.scratch),
    environment: stage.environment(),
    ...(timeLimitMs !== undefined && { timeLimitMs }),
  });
}

/** As `startScreen`, and waits until the session is open and everything is loaded. */
export async function openScreen(stage: Stage, options: ScreenOptions): Promise<TerminalRun> {
  const run = startScreen(stage, options);
  try {
    await run.waitForScreen("scripted/");
    await run.settle();
    return run;
  } catch (error) {
    await run[Symbol.asyncDispose]();
    throw error;
  }
}

/** Sends a prompt and waits until the screen shows a text and nothing moves any more. */
export async function askUntil(run: TerminalRun, prompt: string, text: string): Promise<void> {
  run.type(`${prompt}\r`);
  await run.waitForScreen(text);
  await run.settle();
}
