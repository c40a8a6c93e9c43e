import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Reply, type SseServer, startSseServer } from "../../../core/test/support/sse-server.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { said, savedMessages } from "../support/session-files.ts";
import { streamedTexts } from "../support/streamed-texts.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { PASSING_FAULTS } from "../support/vendor-faults.ts";
import {
  environmentFor,
  SERVICES,
  type VendorAnswer,
  type VendorService,
  wholeReply,
} from "../support/vendor-service.ts";

const CALL_COUNT = 50;
const MAX_ATTEMPTS = 5;
// Long enough for an answer on a busy machine.
const IDLE_TIMEOUT_MS = 4_000;
const IMPATIENT_TIMEOUT_MS = 2_000;
const LIMIT_MS = 90_000;

// The last line names the server or says how long it was silent.
const ONE_LINE = /(^|\n)diligent: .*(127\.0\.0\.1|has sent nothing for 2 s).*\n$/;

interface Scene extends Disposable {
  place: TemporaryProject;
  /** The user's configuration from now on. */
  configure(settings: object): void;
  run(server: SseServer, ...args: string[]): ReturnType<typeof runDiligent>;
  /** The traces left by the calls, in order. */
  trace(): string;
}

function setScene(service: VendorService, settings: object = {}): Scene {
  const place = createTemporaryProject();
  const directory = join(place.home, ".config", "diligent");
  mkdirSync(directory, { recursive: true });
  const configure = (settings: object) =>
    writeFileSync(join(directory, "diligent.jsonc"), JSON.stringify(settings), { mode: 0o600 });
  configure(settings);
  const log = join(place.project, "log");
  return {
    place,
    configure,
    run: (server, ...args) =>
      runDiligent(place, ["-p", "--approval", "auto", ...args], {
        environment: environmentFor(service, server.url),
        timeoutMs: LIMIT_MS,
      }),
    trace: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
    [Symbol.dispose]: () => place.remove(),
  };
}

/** The settings of a user with a short time limit for silent services. */
function impatience({ name }: VendorService, idleTimeoutMs = IDLE_TIMEOUT_MS) {
  return { provider: { [name]: { idleTimeoutMs } } };
}

/** A call that leaves a trace each time it runs. */
function traceCall(number: number) {
  return { id: `call_${number}`, name: "bash", input: { command: `echo ${number} >> log` } };
}

/** An answer with two calls, so that a cut in the second one leaves the first one complete. */
function step(number: number): VendorAnswer {
  const calls = [traceCall(2 * number - 1), traceCall(2 * number)];
  return { text: `This is step number ${number}.`, calls };
}

function countedTo(last: number): string {
  return Array.from({ length: last }, (_, index) => `${index + 1}\n`).join("");
}

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
    "permanent overload ends the run after five attempts, and the next prompt works",
    async () => {
      using scene = setScene(service);
      const overloaded = Array.from({ length: MAX_ATTEMPTS }, () => service.overloaded);
      const answer = wholeReply(service, { text: "Here again." });
      await using server = await startSseServer(...overloaded, answer);
      const failed = await scene.run(server, "first");
      expect([failed.stdout, failed.exitCode, server.requests.length]).toEqual(["", 1, MAX_ATTEMPTS]);
      const next = await scene.run(server, "-c", "second");
      expect([next.stdout, next.exitCode, server.problems]).toEqual(["Here again.\n", 0, []]);
    },
    LIMIT_MS,
  );

  test(
    "each kind of fault as the final one leaves a session that can be continued",
    async () => {
      using scene = setScene(service);
      const replies = faults.flatMap((fault, index) => [
        fault(service, step(index + 1)),
        wholeReply(service, step(index + 1)),
        wholeReply(service, { text: `Done with ${index + 1}.` }),
      ]);
      await using server = await startSseServer(...replies);
      for (const [index, name] of Object.keys(PASSING_FAULTS).entries()) {
        // Only a stall may reach the limit: a busy machine may need longer for any other answer.
        const patience = name.startsWith("a stall") ? impatience(service, IMPATIENT_TIMEOUT_MS) : {};
        scene.configure({ ...patience, maxRetries: 0 });
        const failed = await scene.run(server, ...(index === 0 ? [] : ["-c"]), `try ${name}`);
        expect([name, failed.exitCode, failed.stderr]).toEqual([name, 1, expect.stringMatching(ONE_LINE)]);
        expect([name, server.requests.length]).toEqual([name, 3 * index + 1]);
        // The received part of the answer may be shown, once.
        expect(step(index + 1).text).toStartWith(failed.stdout.trimEnd());
        scene.configure({ maxRetries: 0 });
        const next = await scene.run(server, "-c", "once more");
        expect({ name, ...next }).toMatchObject({ name, exitCode: 0, stdout: `Done with ${index + 1}.\n` });
      }
      expect(server.problems).toEqual([]);
      expect(scene.trace()).toBe(countedTo(2 * faults.length));
    },
    LIMIT_MS,
  );
});
