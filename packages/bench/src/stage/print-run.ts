import { type ProcessOptions, type ProcessRun, runProcess } from "../measure/process-run.ts";
import type { MessagesServer } from "./messages-server.ts";
import { createProject } from "./project.ts";
import type { Program, Stage } from "./stage.ts";

/** One run of `-p`. */
export interface PrintRun {
  program: Program;
  /** Answers the requests; without one, the model has to be a scripted one. */
  server?: MessagesServer;
  /** More arguments, such as `["--model", "scripted/…"]`. */
  args?: readonly string[];
  /** A user's home that is not the stage's. */
  home?: string;
  onStart?: ProcessOptions["onStart"];
}

/** Runs `diligent -p` in a new project, with everything allowed. @throws when it fails. */
export function runPrint(
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
