import { describe, expect, test } from "bun:test";
import { type Reply, startSseServer } from "../../../core/test/support/sse-server.ts";
import { countedTo, impatience, LIMIT_MS, setScene, step } from "../support/fault-scene.ts";
import { parseLines } from "../support/run-diligent.ts";
import { said, savedMessages } from "../support/session-files.ts";
import { streamedTexts } from "../support/streamed-texts.ts";
import type { TemporaryProject } from "../support/temporary-project.ts";
import { PASSING_FAULTS } from "../support/vendor-faults.ts";
import { SERVICES, wholeReply } from "../support/vendor-service.ts";

const CALL_COUNT = 50;
const MAX_RETRIES = 2;

function spoken(place: TemporaryProject): string[] {
  return said(savedMessages(place)).filter((line) => !line.startsWith("tool_result"));
}

describe.concurrent.each(SERVICES)("$name", (service) => {
  const faults = Object.values(PASSING_FAULTS);

  test(
    "a task of fifty calls is finished while answers fail in every temporary way",
    async () => {
      using scene = setScene(service, impatience(service));
      const steps = Array.from({ length: CALL_COUNT / 2 }, (_, index) => step(index + 1));
      // A fault replaces an answer, which is then given to the next request.
      const replies = steps.flatMap((answer, index): Reply[] => {
        const fault = index % 2 === 1 ? faults[(index - 1) / 2] : undefined;
        return [...(fault ? [fault(service, answer)] : []), wholeReply(service, answer)];
      });
      await using server = await startSseServer(...replies, wholeReply(service, { text: "All is done." }));
      const { stdout, stderr, exitCode } = await scene.run(server, "go");
      expect([stdout, exitCode, server.problems]).toEqual(["All is done.\n", 0, []]);
      expect(scene.trace()).toBe(countedTo(CALL_COUNT));
      expect(server.requests).toHaveLength(steps.length + faults.length + 1);
      expect(stderr.match(/Attempt 2 in [\d.]+ s\./g)).toHaveLength(faults.length);
      expect(spoken(scene.place)).toEqual([
        "user: go",
        ...steps.map(({ text }) => `assistant: ${text}`),
        "assistant: All is done.",
      ]);
    },
    LIMIT_MS,
  );

  test(
    "a reader of the event stream sees each text and each call once",
    async () => {
      using scene = setScene(service);
      const { "a connection reset in mid-text": reset, "an error event after a text": failed } =
        PASSING_FAULTS;
      const replies = [reset, failed].flatMap((fault) => (fault ? [fault(service, step(1))] : []));
      const last = { text: "All is done." };
      await using server = await startSseServer(
        ...replies,
        wholeReply(service, step(1)),
        wholeReply(service, last),
      );
      const { stdout } = await scene.run(server, "go", "--output-format", "stream-json");
      const events = parseLines(stdout);
      expect(streamedTexts(events)).toEqual([step(1).text, last.text]);
      expect(events.flatMap(({ type, toolCallId }) => (type === "tool_start" ? [toolCallId] : []))).toEqual([
        "call_1",
        "call_2",
      ]);
      expect(events.at(-1)).toMatchObject({ type: "result", result: last.text, stopReason: "end_turn" });
    },
    LIMIT_MS,
  );

  test(
    "permanent overload ends the run after the configured retries, and the next prompt works",
    async () => {
      using scene = setScene(service, { maxRetries: MAX_RETRIES });
      const overloaded = Array.from({ length: 1 + MAX_RETRIES }, () => service.overloaded);
      const answer = wholeReply(service, { text: "Here again." });
      await using server = await startSseServer(...overloaded, answer);
      const failed = await scene.run(server, "first");
      expect([failed.stdout, failed.exitCode, server.requests.length]).toEqual(["", 1, 1 + MAX_RETRIES]);
      const next = await scene.run(server, "-c", "second");
      expect([next.stdout, next.exitCode, server.problems]).toEqual(["Here again.\n", 0, []]);
    },
    LIMIT_MS,
  );
});
