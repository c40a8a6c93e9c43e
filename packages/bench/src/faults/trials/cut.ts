import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { wholeReply } from "../../../../cli/test/support/vendor-service.ts";
import { type Reply, toSse } from "../../../../core/test/support/sse-server.ts";
import { between, pick } from "../chance.ts";
import { checkNextRequest } from "../look-after.ts";
import { LAST_WORDS, PLANNED_ANSWERS, pickService, runOnService } from "../service-run.ts";
import type { FaultTrial } from "../trial.ts";

/** A connection that breaks anywhere in an answer, before each one: asked for again, said once, and run once. */
export const CUT: FaultTrial = {
  name: "cut",
  about: "a network that breaks off at any byte of each answer, ends it early, or gives none",
  async run(stage) {
    const { place, random, check } = stage;
    const service = pickService(random);
    const replies = PLANNED_ANSWERS.flatMap((answer): Reply[] => {
      const bytes = Buffer.from(toSse(service.events(answer)));
      // All of it but the last event's end: with that it would be whole.
      const body = bytes.subarray(0, between(random, 0, bytes.length - 3));
      const breaks: [Reply, ...Reply[]] = [
        { body, ending: "reset" },
        { body, ending: "end" },
        { silent: true, ending: "reset" },
      ];
      return [pick(random, breaks), wholeReply(service, answer)];
    });
    const { stdout, stderr, exitCode, server } = await runOnService(stage, service, replies);
    const isSame =
      exitCode === 0 && stdout === `${LAST_WORDS}\n` && server.requests.length === replies.length;
    const how = `exit code ${exitCode}, ${server.requests.length} requests: ${stdout.slice(0, 200)} ${stderr.slice(0, 300)}`;
    check("patient", isSame ? undefined : how);
    const log = join(place.project, "log");
    const trace = existsSync(log) ? readFileSync(log, "utf8") : "";
    check("exact", trace === "looked\n" ? undefined : `the call was run otherwise than once: ${trace}`);
    await checkNextRequest(stage);
  },
};
