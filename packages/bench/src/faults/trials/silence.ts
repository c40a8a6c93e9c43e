import { ProviderError } from "../../../../core/src/provider/errors.ts";
import { withIdleWatchdog } from "../../../../core/src/provider/idle-watchdog.ts";
import { user } from "../../../../core/test/support/agent-run.ts";
import { modelOf } from "../../fuzz/histories/vendors.ts";
import { CONNECT } from "../../fuzz/streams/ask-with.ts";
import { ANSWERS, type RecordedAnswer } from "../../fuzz/streams/recorded-answers.ts";
import { between, pick } from "../chance.ts";
import type { FaultTrial } from "../trial.ts";

const IDLE_MS = 150;
/** What keeps a connection alive and says nothing. */
const PINGS = ['event: ping\ndata: {"type":"ping"}\n\n', ": keep-alive\n\n", "\n\n"] as const;
const PING_EVERY_MS = 20;
/** Of a busy machine; the silence is ended after a fraction of a second. */
const LIMIT_MS = 20_000;
const SERVICES = ["anthropic", "openai", "local"] as const;

type Silence = "no headers" | "nothing more" | (typeof PINGS)[number];

/** A service that goes silent before an answer or anywhere in it, or sends nothing but signs of life, is given up. */
export const SILENCE: FaultTrial = {
  name: "silence",
  about: "services that go silent before the headers, anywhere in an answer, or but for pings",
  async run({ random, check }) {
    const silences: readonly Silence[] = ["no headers", "nothing more", ...PINGS];
    const tried = SERVICES.flatMap((service) =>
      silences.map((silence) => {
        const [first, ...others] = ANSWERS.filter((each) => each.service === service && !isFailure(each));
        if (first === undefined) throw new Error(`There is no answer of ${service}.`);
        const answer = pick(random, [first, ...others]);
        return findProblem(answer, { silence, beginning: beginningOf(answer, silence, random) });
      }),
    );
    for (const problem of await Promise.all(tried)) check("patient", problem);
  },
};

function isFailure({ name }: RecordedAnswer): boolean {
  return name.includes("error");
}

/** Behind the middle a short answer could be whole but for its end. A sign of life comes between two events. */
function beginningOf({ body }: RecordedAnswer, silence: Silence, random: () => number): Uint8Array {
  const bytes = Buffer.from(body);
  const at = between(random, 0, bytes.length / 2);
  const isBetweenEvents = silence !== "nothing more" && silence !== "no headers";
  return bytes.subarray(0, isBetweenEvents ? bytes.lastIndexOf("\n\n", at) + 2 : at);
}

async function findProblem(
  { service, name }: RecordedAnswer,
  { silence, beginning }: { silence: Silence; beginning: Uint8Array },
): Promise<string | undefined> {
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: () => reply(silence, beginning),
  });
  const request = withIdleWatchdog(CONNECT[service](server.url.origin), { idleTimeoutMs: IDLE_MS });
  const context = { systemPrompt: "s", messages: [user("go")], tools: [] };
  const types: string[] = [];
  const ended = request(modelOf(service, 200_000), context, {})
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
