import { type DiligentExit, runDiligent } from "../../../cli/test/support/run-diligent.ts";
import {
  environmentFor,
  SERVICES,
  type VendorAnswer,
  type VendorService,
} from "../../../cli/test/support/vendor-service.ts";
import { type Reply, type SseServer, startSseServer } from "../../../core/test/support/sse-server.ts";
import type { TrialStage } from "./trial.ts";

/** The last thing that the model says. */
export const LAST_WORDS = "All of it is done now, and here is the whole story.";

const STEP: VendorAnswer = {
  text: "I will look at it first.",
  calls: [{ id: "call_1", name: "bash", input: { command: "echo looked >> log" } }],
};

/** What the model would answer if all went well: a call, then its last words. */
export const PLANNED_ANSWERS: readonly VendorAnswer[] = [STEP, { text: LAST_WORDS }];

/** Retries wait for up to a few seconds each; a run that takes longer than this hangs. */
const LIMIT_MS = 90_000;

/** One attempt after the other of each turn, as the retry limit has it. */
export const MOST_ATTEMPTS = 5;

/** How the program ended, and what the service it asked has seen. */
export interface ServiceRun extends DiligentExit {
  server: Pick<SseServer, "requests" | "problems">;
}

/** One of the services, by chance. */
export function pickService(random: () => number): VendorService {
  return random() < 0.5 ? (SERVICES[0] ?? fail()) : (SERVICES[1] ?? fail());
}

function fail(): never {
  throw new Error("There are not two services.");
}

/** Runs a prompt on a server that gives these replies, and checks what holds for every run on a service. */
export async function runOnService(
  stage: TrialStage,
  service: VendorService,
  replies: readonly Reply[],
): Promise<ServiceRun> {
  const { place, check } = stage;
  await using server = await startSseServer(...replies);
  const exit = await runDiligent(place, ["-p", "--approval", "auto", "Do what is needed."], {
    environment: environmentFor(service, server.url),
    timeoutMs: LIMIT_MS,
  });
  check("patient", exit.durationMs < LIMIT_MS ? undefined : `no end after ${LIMIT_MS} ms`);
  check("opens", server.problems[0]);
  check(
    "patient",
    server.requests.length <= MOST_ATTEMPTS * PLANNED_ANSWERS.length
      ? undefined
      : `${server.requests.length} requests`,
  );
  return { ...exit, server };
}
