import { describe, expect, test } from "bun:test";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { countedTo, impatience, LIMIT_MS, setScene, step } from "../support/fault-scene.ts";
import { PASSING_FAULTS } from "../support/vendor-faults.ts";
import { SERVICES, wholeReply } from "../support/vendor-service.ts";

// Until then the request must have been sent, however busy the machine is.
const IMPATIENT_TIMEOUT_MS = 5_000;

// The last line names the server or says how long it was silent.
const ONE_LINE = /(^|\n)diligent: .*(127\.0\.0\.1|has sent nothing for 5 s).*\n$/;

describe.each(SERVICES)("$name", (service) => {
  test.each(Object.entries(PASSING_FAULTS))(
    "after %s as the final one the session can be continued",
    async (name, fault) => {
      // Only a stall may reach the limit: a busy machine may need longer for any other answer.
      const patience = name.startsWith("a stall") ? impatience(service, IMPATIENT_TIMEOUT_MS) : {};
      using scene = setScene(service, { ...patience, maxRetries: 0 });
      const answers = [step(1), { text: "Done." }].map((answer) => wholeReply(service, answer));
      await using server = await startSseServer(fault(service, step(1)), ...answers);
      const failed = await scene.run(server, "try");
      expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringMatching(ONE_LINE)]);
      expect(server.requests).toHaveLength(1);
      // The received part of the answer may be shown, once.
      expect(step(1).text).toStartWith(failed.stdout.trimEnd());
      scene.configure({ maxRetries: 0 });
      const next = await scene.run(server, "-c", "once more");
      expect(next).toMatchObject({ exitCode: 0, stdout: "Done.\n" });
      expect(server.problems).toEqual([]);
      expect(scene.trace()).toBe(countedTo(2));
    },
    LIMIT_MS,
  );
});
