import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { writeUserConfig } from "../../../cli/test/support/compatible-service.ts";
import {
  type DiligentExit,
  type DiligentOptions,
  type RunningDiligent,
  runDiligent,
  startDiligent,
} from "../../../cli/test/support/run-diligent.ts";
import {
  environmentFor,
  SERVICES,
  type VendorAnswer,
  type VendorService,
} from "../../../cli/test/support/vendor-service.ts";
import { type Reply, type SseServer, startSseServer } from "../../../core/test/support/sse-server.ts";
import { createRandomScript, type PrintedLine } from "../kill.ts";
import { fillProject } from "../stage/stage.ts";
import type { TrialStage } from "./trial.ts";

const SCRIPT = "script.json";

/** Fills the project with sources and a script of random turns; call it once. */
export function prepareRandomRuns({ place, random }: Pick<TrialStage, "place" | "random">): void {
  fillProject(place.project);
  place.write(SCRIPT, createRandomScript(random));
}

/** Starts `diligent -p` with the script from `prepareRandomRuns`, and everything allowed. */
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

/** The events in an output, without a truncated last line. */
export function toPrintedLines(stdout: string): PrintedLine[] {
  const whole = stdout.slice(0, stdout.lastIndexOf("\n") + 1);
  return whole.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

/** The ids of the saved sessions, oldest first. */
export function savedSessions({ place }: Pick<TrialStage, "place">): string[] {
  const directory = join(place.project, ".diligent", "sessions");
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  return names.map((name) => name.slice(0, -".jsonl".length)).sort();
}

/** The model's last text. */
export const LAST_WORDS = "All of it is done now, and here is the whole story.";

const STEP: VendorAnswer = {
  text: "I will look at it first.",
  calls: [{ id: "call_1", name: "bash", input: { command: "echo looked >> log" } }],
};

/** The model's answers if nothing goes wrong: a call, then its last text. */
export const PLANNED_ANSWERS: readonly VendorAnswer[] = [STEP, { text: LAST_WORDS }];

/** Retries wait up to a few seconds each; a run that takes longer than this hangs. */
const LIMIT_MS = 90_000;

const MAX_RETRIES = 4;

/** How the program ended, and the requests that its server received. */
interface ServiceRun extends DiligentExit {
  server: Pick<SseServer, "requests" | "problems">;
}

/** One of the services, at random. */
export function pickService(random: () => number): VendorService {
  return random() < 0.5 ? (SERVICES[0] ?? fail()) : (SERVICES[1] ?? fail());
}

function fail(): never {
  throw new Error("Expected two services.");
}

/** Runs a prompt against a server with these replies, and checks what holds for every run on a service. */
export async function runOnService(
  stage: TrialStage,
  service: VendorService,
  replies: readonly Reply[],
): Promise<ServiceRun> {
  const { place, check } = stage;
  await using server = await startSseServer(...replies);
  // Otherwise a run would wait for minutes for a service that does not recover.
  writeUserConfig(place, { maxRetries: MAX_RETRIES });
  const exit = await runDiligent(place, ["-p", "--approval", "auto", "Do what is needed."], {
    environment: environmentFor(service, server.url),
    timeoutMs: LIMIT_MS,
  });
  check("patient", exit.durationMs < LIMIT_MS ? undefined : `not ended after ${LIMIT_MS} ms`);
  check("opens", server.problems[0]);
  check(
    "patient",
    server.requests.length <= (1 + MAX_RETRIES) * PLANNED_ANSWERS.length
      ? undefined
      : `${server.requests.length} requests`,
  );
  return { ...exit, server };
}
