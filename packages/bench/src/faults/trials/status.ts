import { wholeReply } from "../../../../cli/test/support/vendor-service.ts";
import { errorReply, type Reply } from "../../../../core/test/support/sse-server.ts";
import { between, pick } from "../chance.ts";
import { checkNextRequest } from "../look-after.ts";
import { LAST_WORDS, PLANNED_ANSWERS, pickService, runOnService } from "../service-run.ts";
import type { FaultTrial } from "../trial.ts";

const PASSING = [408, 409, 429, 500, 502, 503, 504, 529] as const;
const FINAL = [400, 401, 402, 403, 404, 405, 413, 418, 422] as const;
const RETRY_AFTER = ["0", "-1", "garbage", "0.01", ""] as const;

/** A row of errors, then answers. What passes is waited out; what does not is tried once. */
export const STATUS: FaultTrial = {
  name: "status",
  about: "rows of HTTP errors before an answer, with and without retry-after",
  async run(stage) {
    const { random, check } = stage;
    const service = pickService(random);
    const isFinal = random() < 0.4;
    const status = isFinal ? pick(random, FINAL) : pick(random, PASSING);
    const errors = Array.from({ length: isFinal ? 1 : between(random, 1, 2) }, () => failure(status, random));
    const answers = PLANNED_ANSWERS.map((answer) => wholeReply(service, answer));
    const { stdout, stderr, exitCode, server } = await runOnService(stage, service, [...errors, ...answers]);
    const how = `${status} from ${service.name}: exit code ${exitCode}, ${server.requests.length} requests, ${stderr.slice(0, 300)}`;
    if (isFinal) {
      check("patient", server.requests.length === 1 && exitCode !== 0 ? undefined : how);
    } else {
      check("patient", exitCode === 0 && stdout === `${LAST_WORDS}\n` ? undefined : how);
      check("exact", server.requests.length === errors.length + 2 ? undefined : how);
    }
    await checkNextRequest(stage);
  },
};

function failure(status: number, random: () => number): Reply {
  const retryAfter = pick(random, RETRY_AFTER);
  const headers: Record<string, string> = retryAfter === "" ? {} : { "retry-after": retryAfter };
  if (random() < 0.3)
    return { status, headers: { ...headers, "content-type": "text/html" }, body: "<h1>No</h1>" };
  if (random() < 0.2) return { status, headers, body: "" };
  return errorReply(status, "api_error", "It did not work out", headers);
}
