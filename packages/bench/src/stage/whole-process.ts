import { runProcess } from "../measure/process-run.ts";
import { Series } from "../measure/series.ts";
import { createProject } from "./project.ts";
import type { Stage } from "./stage.ts";

/** The time from the start to the end of a process, in ms. */
export function wholeProcess(stage: Stage, argv: readonly string[]): Series {
  const cwd = createProject(stage.scratch);
  const environment = stage.environment();
  return new Series(async () => (await runProcess({ argv, cwd, environment })).wallMs);
}
