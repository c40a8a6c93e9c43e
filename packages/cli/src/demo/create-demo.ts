import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Environment, findProjectRoot, homeDirectory } from "@diligent/core/run";
import { provideBun } from "./provide-bun.ts";
import { SAMPLE_FILES, SAMPLE_NAME } from "./sample-project.ts";
import script from "./script.json" with { type: "json" };

/** A demonstration that is ready to run. Paths are absolute and real. */
export interface Demo {
  /** The sample project. */
  project: string;
  /** The script of the model, beside the project. */
  script: string;
  /** For diligent and the tests of the project: a `bun` is on its PATH. */
  environment: Environment;
}

/** How fast the scripted model is: milliseconds before each reply, and between its pieces. */
export interface DemoPace {
  delayMs: number;
  chunkDelayMs: number;
}

/**
 * Writes the sample project and the script into a fresh temporary directory, which stays: what happened is there to be
 * looked at, and to be worked on.
 * @throws Error of the operating system when nothing can be written there.
 */
export function createDemo(environment: Environment, pace?: DemoPace): Demo {
  const directory = realpathSync(mkdtempSync(join(environment.TMPDIR || tmpdir(), "diligent-demo-")));
  const project = join(directory, SAMPLE_NAME);
  for (const [path, content] of Object.entries(SAMPLE_FILES)) writeNew(join(project, path), content);
  // Where temporary files lie inside somebody's repository, the sample must not become a part of it.
  if (findProjectRoot(project, homeDirectory(environment)) !== project) mkdirSync(join(project, ".git"));
  const scriptPath = join(directory, "script.json");
  const paced = { ...script, turns: script.turns.map((turn) => ({ ...turn, ...pace })) };
  writeNew(scriptPath, `${JSON.stringify(paced, null, 2)}\n`);
  return { project, script: scriptPath, environment: provideBun(environment, join(directory, "bin")) };
}

function writeNew(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { flag: "wx" });
}
