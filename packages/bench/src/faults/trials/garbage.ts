import { wholeReply } from "../../../../cli/test/support/vendor-service.ts";
import { type Reply, toSse } from "../../../../core/test/support/sse-server.ts";
import { between, pick } from "../chance.ts";
import { checkNextRequest } from "../look-after.ts";
import { PLANNED_ANSWERS, pickService, runOnService } from "../service-run.ts";
import type { FaultTrial } from "../trial.ts";

const JUNK = [
  "data: {\n\n",
  "data: null\n\n",
  "data: [DONE]\n\n",
  'event: \u0000\ndata: {"type":7}\n\n',
  ": only a comment\n\n",
  "\n\n\n",
  "event: error\n\n",
  'data: {"type":"nobody_knows","index":-1}\n\n',
  "retry: 1\nid: x\n\n",
  `data: ${"x".repeat(70_000)}\n\n`,
] as const;

// Bytes that no JSON holds: other ones would make another answer, which nobody could tell from a right one.
const LAST_CONTROL = 0x1f;

/** An answer that was damaged on its way, then good ones. Whatever came, the run ends, and the session goes on. */
export const GARBAGE: FaultTrial = {
  name: "garbage",
  about: "an answer that is cut, reset, mixed with junk, or no event stream at all",
  async run(stage) {
    const { random, check } = stage;
    const service = pickService(random);
    const answers = PLANNED_ANSWERS.map((answer) => wholeReply(service, answer));
    const damaged = damage(Buffer.from(toSse(service.events(PLANNED_ANSWERS[0] ?? { text: "" }))), random);
    const run = await runOnService(stage, service, [damaged, ...answers]);
    const isSaid = run.exitCode === 0 || run.stderr.includes("diligent:");
    check(
      "patient",
      isSaid ? undefined : `exit code ${run.exitCode} without a word: ${run.stderr.slice(0, 300)}`,
    );
    await checkNextRequest(stage);
  },
};

function damage(whole: Buffer, random: () => number): Reply {
  const at = between(random, 0, whole.length);
  const ending = pick(random, ["end", "reset"]);
  switch (pick(random, ["cut", "junk", "bytes", "doubled", "page", "empty"])) {
    case "cut":
      return { body: whole.subarray(0, at), ending };
    case "junk": {
      const start = whole.lastIndexOf("\n\n", at) + 2;
      const place = start < 2 ? 0 : start;
      return {
        body: Buffer.concat([
          whole.subarray(0, place),
          Buffer.from(pick(random, JUNK)),
          whole.subarray(place),
        ]),
      };
    }
    case "bytes": {
      const body = Buffer.from(whole);
      for (let count = between(random, 1, 8); count > 0; count--) {
        body[between(random, 0, body.length - 1)] = between(random, 0, LAST_CONTROL);
      }
      return { body, ending };
    }
    case "doubled":
      return { body: Buffer.concat([whole.subarray(0, at), whole]), ending };
    case "page":
      return { body: "<html><body>Please log in</body></html>", headers: { "content-type": "text/html" } };
    case "empty":
      return { body: "", ending };
  }
}
