import { toSse } from "../../../../core/test/support/sse-server.ts";
import { between } from "../chance.ts";
import { checkNextRequest } from "../look-after.ts";
import { LAST_WORDS, PLANNED_ANSWERS, pickService, runOnService } from "../service-run.ts";
import type { FaultTrial } from "../trial.ts";

const MOST_BYTES = 9;

/** A network that hands on a few bytes at a time: the same answer as at once, characters cut in the middle included. */
export const SLOW: FaultTrial = {
  name: "slow",
  about: "answers that come in pieces of one to nine bytes",
  async run(stage) {
    const { random, check } = stage;
    const service = pickService(random);
    const words = `${LAST_WORDS} Grüße, 日本語, 🎉.`;
    const replies = [PLANNED_ANSWERS[0] ?? { text: "" }, { text: words }].map((answer) => ({
      body: toSse(service.events(answer)),
      pieceBytes: between(random, 1, MOST_BYTES),
    }));
    const { stdout, exitCode, server } = await runOnService(stage, service, replies);
    const isSame = exitCode === 0 && stdout === `${words}\n` && server.requests.length === 2;
    check(
      "exact",
      isSame
        ? undefined
        : `exit code ${exitCode}, ${server.requests.length} requests: ${stdout.slice(0, 200)}`,
    );
    await checkNextRequest(stage);
  },
};
