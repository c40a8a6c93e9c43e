import { ProviderError } from "../../../../core/src/provider/errors.ts";
import { errorReply } from "../../../../core/test/support/sse-server.ts";
import { askWith, type ServiceName } from "../../fuzz/streams/ask-with.ts";
import { between } from "../chance.ts";
import type { FaultTrial } from "../trial.ts";

const SERVICES: readonly ServiceName[] = ["anthropic", "openai", "local"];
const FIRST_STATUS = 300;
const LAST_STATUS = 599;
/** A trial looks at every eighth, from one of the first eight on: the adapters need a few milliseconds for each. */
const STRIDE = 8;
/** Passing, like everything from 500 on. */
const PASSING_REFUSALS: readonly number[] = [408, 409, 429];

/** Every status there is and could be, through the adapters: which ones may be tried again, and that they are named. */
export const STATUSES: FaultTrial = {
  name: "statuses",
  about: "every HTTP status from 300 to 599 in place of an answer, of each kind of service",
  async run({ random, check }) {
    const first = FIRST_STATUS + between(random, 0, STRIDE - 1);
    for (let status = first; status <= LAST_STATUS; status += STRIDE) {
      for (const service of SERVICES) check("patient", await findProblem(service, status));
    }
  },
};

async function findProblem(service: ServiceName, status: number): Promise<string | undefined> {
  const { error } = await askWith(service, errorReply(status, "", "It did not work out"));
  const how = `${status} of ${service}: ${error}`;
  if (!(error instanceof ProviderError)) return how;
  const isNamed = error.message.includes(String(status)) && !error.message.includes("\n");
  const isPassing = status >= 500 || PASSING_REFUSALS.includes(status);
  return isNamed && error.statusCode === status && error.isRetryable === isPassing ? undefined : how;
}
