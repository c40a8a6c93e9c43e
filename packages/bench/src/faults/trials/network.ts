import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Model } from "@diligent/core";
import { ProviderError, withIdleWatchdog } from "@diligent/core";
import { wholeReply } from "../../../../cli/test/support/vendor-service.ts";
import { user } from "../../../../core/test/support/agent-run.ts";
import { errorReply, type Reply, toSse } from "../../../../core/test/support/sse-server.ts";
import { modelOf } from "../../fuzz/histories.ts";
import { ANSWERS, askWith, CONNECT, type RecordedAnswer, type ServiceName } from "../../fuzz/streams.ts";
import { checkNextRequest } from "../aftermath.ts";
import { LAST_WORDS, PLANNED_ANSWERS, pickService, runOnService } from "../disturbed-run.ts";
import { between, type FaultTrial, pick } from "../trial.ts";

const TEMPORARY = [408, 409, 429, 500, 502, 503, 504, 529] as const;
const FINAL = [400, 401, 402, 403, 404, 405, 413, 418, 422] as const;
const RETRY_AFTER = ["0", "-1", "garbage", "0.01", ""] as const;

/** A sequence of errors, then answers. Temporary errors are retried; permanent ones are tried once. */
export const STATUS_TRIAL: FaultTrial = {
  name: "status",
  subject: "program",
  about: "sequences of HTTP errors before an answer, with and without retry-after",
  async run(stage) {
    const { random, check } = stage;
    const service = pickService(random);
    const isFinal = random() < 0.4;
    const status = isFinal ? pick(random, FINAL) : pick(random, TEMPORARY);
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

const STATUSES_SERVICES: readonly ServiceName[] = ["anthropic", "openai", "local"];
const FIRST_STATUS = 300;
const LAST_STATUS = 599;
/**
 * A trial checks every eighth status, starting at one of the first eight: the adapters need a few
 * milliseconds for each.
 */
const STRIDE = 8;
/** Temporary, like everything from 500 on. */
const TEMPORARY_REFUSALS: readonly number[] = [408, 409, 429];

/** Every possible status through the adapters: which may be retried, and that they are named. */
export const STATUSES: FaultTrial = {
  name: "statuses",
  subject: "library",
  about: "every HTTP status from 300 to 599 instead of an answer, for each kind of service",
  async run({ random, check }) {
    const first = FIRST_STATUS + between(random, 0, STRIDE - 1);
    for (let status = first; status <= LAST_STATUS; status += STRIDE) {
      for (const service of STATUSES_SERVICES) check("patient", await findProblemStatuses(service, status));
    }
  },
};

async function findProblemStatuses(service: ServiceName, status: number): Promise<string | undefined> {
  const { error } = await askWith(service, errorReply(status, "", "It did not work out"));
  const how = `${status} of ${service}: ${error}`;
  if (!(error instanceof ProviderError)) return how;
  const isNamed = error.message.includes(String(status)) && !error.message.includes("\n");
  const isTemporary = status >= 500 || TEMPORARY_REFUSALS.includes(status);
  return isNamed && error.statusCode === status && error.isRetryable === isTemporary ? undefined : how;
}

const NOISE = [
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

// Bytes that no JSON contains: others could produce a different valid answer.
const LAST_CONTROL = 0x1f;

/**
 * An answer that was damaged in transit, then good ones. In any case, the run ends and the session continues.
 */
export const GARBAGE: FaultTrial = {
  name: "garbage",
  subject: "program",
  about: "an answer that is cut, reset, mixed with garbage, or not an event stream at all",
  async run(stage) {
    const { random, check } = stage;
    const service = pickService(random);
    const answers = PLANNED_ANSWERS.map((answer) => wholeReply(service, answer));
    const damaged = damage(Buffer.from(toSse(service.events(PLANNED_ANSWERS[0] ?? { text: "" }))), random);
    const run = await runOnService(stage, service, [damaged, ...answers]);
    const isSaid = run.exitCode === 0 || run.stderr.includes("diligent:");
    check(
      "patient",
      isSaid ? undefined : `exit code ${run.exitCode} without a message: ${run.stderr.slice(0, 300)}`,
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
          Buffer.from(pick(random, NOISE)),
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

const IDLE_MS = 150;
/** Keep-alive messages without content. */
const PINGS = ['event: ping\ndata: {"type":"ping"}\n\n', ": keep-alive\n\n", "\n\n"] as const;
const PING_EVERY_MS = 20;
/** For a busy machine; the silence ends after a fraction of a second. */
const LIMIT_MS = 20_000;
const SILENCE_SERVICES = ["anthropic", "openai", "local"] as const;

type Silence = "no headers" | "nothing more" | (typeof PINGS)[number];

/** A service that goes silent before or within an answer, or sends only keep-alives, is given up. */
export const SILENCE: FaultTrial = {
  name: "silence",
  subject: "library",
  about: "services that go silent before the headers or anywhere in an answer, or only send keep-alives",
  async run({ random, check }) {
    const silences: readonly Silence[] = ["no headers", "nothing more", ...PINGS];
    const tried = SILENCE_SERVICES.flatMap((service) =>
      silences.map((silence) => {
        const [first, ...others] = ANSWERS.filter((each) => each.service === service && !isFailure(each));
        if (first === undefined) throw new Error(`There is no answer from ${service}.`);
        const answer = pick(random, [first, ...others]);
        return findProblemSilence(answer, { silence, beginning: beginningOf(answer, silence, random) });
      }),
    );
    for (const problem of await Promise.all(tried)) check("patient", problem);
  },
};

function isFailure({ name }: RecordedAnswer): boolean {
  return name.includes("error");
}

/**
 * In the second half, a short answer could be complete except for its end. Keep-alives come between two
 * events.
 */
function beginningOf({ body }: RecordedAnswer, silence: Silence, random: () => number): Uint8Array {
  const bytes = Buffer.from(body);
  const at = between(random, 0, bytes.length / 2);
  const isBetweenEvents = silence !== "nothing more" && silence !== "no headers";
  return bytes.subarray(0, isBetweenEvents ? bytes.lastIndexOf("\n\n", at) + 2 : at);
}

async function findProblemSilence(
  { service, name }: RecordedAnswer,
  { silence, beginning }: { silence: Silence; beginning: Uint8Array },
): Promise<string | undefined> {
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: () => reply(silence, beginning),
  });
  // Keep-alives count while a model may be thinking.
  const model: Model = { ...modelOf(service, 200_000), thinking: "none" };
  const request = withIdleWatchdog(CONNECT[service](server.url.origin), { idleTimeoutMs: IDLE_MS });
  const context = { systemPrompt: "s", messages: [user("go")], tools: [] };
  const types: string[] = [];
  const ended = request(model, context, {})
    .consume(({ type }) => types.push(type))
    .then(
      () => "an answer",
      (error: unknown) => error,
    );
  const limit = Promise.withResolvers<string>();
  const timer = setTimeout(() => limit.resolve("no end"), LIMIT_MS);
  const end = await Promise.race([ended, limit.promise]);
  clearTimeout(timer);
  server.stop(true);
  const isGivenUp = end instanceof ProviderError && end.errorType === "timeout";
  const where = `${service}, ${name}, ${beginning.length} bytes, then ${JSON.stringify(silence)}`;
  return isGivenUp ? undefined : `${where}: ${end}, ${types.join(" ")}`;
}

function reply(silence: Silence, beginning: Uint8Array): Promise<Response> | Response {
  if (silence === "no headers") return new Promise(() => {});
  let timer: Timer | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (beginning.length > 0) controller.enqueue(beginning);
      if (silence === "nothing more") return;
      timer = setInterval(() => controller.enqueue(Buffer.from(silence)), PING_EVERY_MS);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const MAX_PIECE_BYTES = 9;

/**
 * A network that delivers a few bytes at a time, splitting characters too: the answer is the same as when
 * delivered at once.
 */
export const SLOW: FaultTrial = {
  name: "slow",
  subject: "program",
  about: "answers that arrive in pieces of one to nine bytes",
  async run(stage) {
    const { random, check } = stage;
    const service = pickService(random);
    const words = `${LAST_WORDS} Grüße, 日本語, 🎉.`;
    const replies = [PLANNED_ANSWERS[0] ?? { text: "" }, { text: words }].map((answer) => ({
      body: toSse(service.events(answer)),
      pieceBytes: between(random, 1, MAX_PIECE_BYTES),
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

/**
 * A connection that breaks anywhere in an answer: the request is retried, the text shown once, and the call
 * run once.
 */
export const CUT: FaultTrial = {
  name: "cut",
  subject: "program",
  about: "a network that breaks at any byte of each answer, ends it early, or delivers none",
  async run(stage) {
    const { place, random, check } = stage;
    const service = pickService(random);
    const replies = PLANNED_ANSWERS.flatMap((answer): Reply[] => {
      const bytes = Buffer.from(toSse(service.events(answer)));
      // Everything except the end of the last event, with which it would be complete.
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
    check("exact", trace === "looked\n" ? undefined : `the call was not run exactly once: ${trace}`);
    await checkNextRequest(stage);
  },
};
