import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type DiligentOptions,
  type RunningDiligent,
  startDiligent,
} from "../../../cli/test/support/run-diligent.ts";
import type { PrintedLine } from "../kill/find-lost.ts";
import { createRandomScript } from "../kill/random-script.ts";
import { fillProject } from "../stage/project.ts";
import type { TrialStage } from "./trial.ts";

const SCRIPT = "script.json";

/** Makes the project one with sources and with a script of random turns; to be called once. */
export function prepareRandomRuns({ place, random }: Pick<TrialStage, "place" | "random">): void {
  fillProject(place.project);
  place.write(SCRIPT, createRandomScript(random));
}

/** Starts `diligent -p` on the script that `prepareRandomRuns` has written, with everything allowed. */
export function startRandomRun(
  { place }: Pick<TrialStage, "place">,
  args: readonly string[] = [],
  options: DiligentOptions = {},
): RunningDiligent {
  const fixed = [
    "-p",
    "--approval",
    "auto",
    "--model",
    `scripted/${SCRIPT}`,
    "--output-format",
    "stream-json",
  ];
  return startDiligent(place, [...fixed, ...args, "Do what is needed."], options);
}

/** The events of an output, a last line that was cut off aside. */
export function toPrintedLines(stdout: string): PrintedLine[] {
  const whole = stdout.slice(0, stdout.lastIndexOf("\n") + 1);
  return whole.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

/** The ids of the sessions that were saved, the oldest first. */
export function savedSessions({ place }: Pick<TrialStage, "place">): string[] {
  const directory = join(place.project, ".diligent", "sessions");
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  return names.map((name) => name.slice(0, -".jsonl".length)).sort();
}
