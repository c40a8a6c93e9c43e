import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { signalGroup, watchGroup } from "../measure/process-groups.ts";
import { createProject } from "../stage/project.ts";
import type { ScriptedTurn } from "../stage/screen-run.ts";
import type { Stage } from "../stage/stage.ts";

/** `diligent -p` on a script, with its events as they come. */
export interface PrintedRun extends AsyncDisposable {
  pid: number;
  /** The types of its events, one after the other, until it ends. */
  events(): AsyncGenerator<string>;
  /** How it ended. */
  ended: Promise<number>;
}

/** @param script replies of the model; everything they call is allowed. */
export async function startPrintedRun(
  stage: Stage,
  script: { turns: readonly ScriptedTurn[]; summaries: readonly ScriptedTurn[] },
): Promise<PrintedRun> {
  const [, program] = await stage.programs();
  const path = join(stage.scratch.makeDirectory("script"), "script.json");
  writeFileSync(path, JSON.stringify({ version: 1, ...script }));
  const options = ["--approval", "auto", "--model", `scripted/${path}`, "--output-format", "stream-json"];
  const child = Bun.spawn([program.path, "-p", ...options, "Do what is needed."], {
    cwd: createProject(stage.scratch),
    env: stage.environment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    detached: true,
  });
  const unwatch = watchGroup(child.pid);
  return {
    pid: child.pid,
    events: () => readTypes(child.stdout),
    ended: child.exited,
    async [Symbol.asyncDispose]() {
      signalGroup(child.pid, "SIGKILL");
      await child.exited;
      unwatch();
    },
  };
}

// Of a line of 50 KB the beginning says what it is.
const TYPE = /^\{"type":"([a-z_]+)"/;

async function* readTypes(output: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let open = "";
  for await (const bytes of output) {
    const lines = (open + decoder.decode(bytes, { stream: true })).split("\n");
    open = lines.pop() ?? "";
    for (const line of lines) yield TYPE.exec(line)?.[1] ?? "unknown";
  }
}
