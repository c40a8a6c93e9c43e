import { startDiligent } from "../../../../cli/test/support/run-diligent.ts";
import { watchPeakMemory } from "../../measure/peak-memory.ts";
import { pick } from "../chance.ts";
import { checkChildren } from "../children-left.ts";
import { checkNextRequest } from "../look-after.ts";
import type { FaultTrial } from "../trial.ts";

// Below what a quiet run takes on top: 64 MB are promised for any amount of output.
const MOST_MORE_MB = 64;

const LIMIT_MS = 1_500;

const FLOODS = [
  "head -c 200000000 /dev/zero | tr '\\0' x",
  "yes | head -c 200000000",
  "seq 1 20000000",
  "timeout 1 cat /dev/urandom",
  "yes",
] as const;

/** A tool prints much more than fits anywhere: memory stays as it is, and the cut is marked. */
export const FLOOD: FaultTrial = {
  name: "flood",
  about: "a command that prints hundreds of megabytes, in one line or in millions",
  obstacle: () => (process.platform === "linux" ? undefined : "peaks of memory are read from /proc"),
  async run(stage) {
    const quiet = await measurePeak(stage, "echo quiet");
    const flooded = await measurePeak(stage, pick(stage.random, FLOODS));
    const more = Math.round(flooded.megabytes - quiet.megabytes);
    stage.check("light", more <= MOST_MORE_MB ? undefined : `${more} MB more than a quiet run`);
    stage.check("light", flooded.isMarked ? undefined : "the cut is not marked");
    await checkNextRequest(stage);
    await checkChildren(stage);
  },
};

async function measurePeak({ place }: Parameters<FaultTrial["run"]>[0], command: string) {
  const turns = [{ toolCalls: [{ name: "bash", input: { command, timeout: LIMIT_MS } }] }, { text: "Done." }];
  place.write("script.json", { version: 1, turns });
  const options = [
    "-p",
    "--approval",
    "auto",
    "-m",
    "scripted/script.json",
    "--output-format",
    "stream-json",
  ];
  const run = startDiligent(place, [...options, "Go."], { timeoutMs: 60_000 });
  const peak = watchPeakMemory(run.process.pid);
  const { stdout } = await run.ended;
  peak.stop();
  return { megabytes: peak.megabytes, isMarked: stdout.includes("left out here") };
}
