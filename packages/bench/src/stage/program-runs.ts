import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ProcessRun, runProcess, type TimedProgram } from "../measure/process-run.ts";
import { Series } from "../measure/statistics.ts";
import { TerminalRun } from "../measure/terminal-run.ts";
import type { MessagesServer } from "./messages-server.ts";
import { createProject, type Program, type Stage, writeScript } from "./stage.ts";

/** One run of `-p`. */
interface PrintRun {
  program: Program;
  /** Answers the requests; without one, the model must be scripted. */
  server?: MessagesServer;
  /** Further arguments, such as `["--model", "scripted/…"]`. */
  args?: readonly string[];
  /** A home directory other than the stage's. */
  home?: string;
  onStart?: TimedProgram["onStart"];
}

/** Runs `diligent -p` in a new project, with everything allowed. @throws if it fails. */
export function runPrintMode(
  stage: Stage,
  { program, server, args = [], ...options }: PrintRun,
): Promise<ProcessRun> {
  const endpoint = server && {
    ANTHROPIC_API_KEY: "bench-key",
    ANTHROPIC_BASE_URL: server.baseUrl,
    OPENAI_API_KEY: "bench-key",
    OPENAI_BASE_URL: `${server.baseUrl}/v1`,
  };
  return runProcess({
    argv: [program.path, "-p", "--approval", "auto", ...args, "Do what is needed."],
    cwd: createProject(stage.scratch),
    environment: { ...stage.environment(options.home), ...endpoint },
    ...(options.onStart && { onStart: options.onStart }),
  });
}

/** A reply of the scripted model; see docs/scripted-provider.md. */
export interface ScriptedTurn {
  text?: string;
  toolCalls?: readonly { name: string; input: object }[];
  delayMs?: number;
  chunkDelayMs?: number;
  chunkChars?: number;
}

/** A program and the script of its model; `timeLimitMs` as in `TerminalOptions`. */
interface ScreenOptions {
  program: Program;
  turns: readonly ScriptedTurn[];
  /** Replies to requests for a summary, if the conversation becomes long. */
  summaries?: readonly ScriptedTurn[];
  timeLimitMs?: number;
}

/** The end of the first frame. */
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

/** Like `startScreen`, and waits until the session is open and everything is loaded. */
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

/** The time from the start to the end of a process, in ms. */
export function wholeProcess(stage: Stage, argv: readonly string[]): Series {
  const cwd = createProject(stage.scratch);
  const environment = stage.environment();
  return new Series(async () => (await runProcess({ argv, cwd, environment })).wallMs);
}

/** The output of a program without a screen, and its speed; `timeLimitMs` as in `TerminalOptions`. */
interface PlainText {
  text: string;
  /** Written in chunks of this size, with this delay between them. */
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

/** Starts a minimal program: it writes a text piece by piece, echoes each key, and waits. */
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
