import { expect, test } from "bun:test";
import { readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import { toOpenAIRequest } from "../../src/provider/openai/request.ts";
import { findRequestFault } from "../../src/provider/scripted/check-request.ts";
import type { SessionManager } from "../../src/session/manager.ts";
import { toShellNote } from "../../src/session/summary-message.ts";
import type { Message } from "../../src/types.ts";
import { type TurnScript, user } from "../support/agent-run.ts";
import { checkAnthropicRequest } from "../support/anthropic-wire-check.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { checkOpenAIRequest } from "../support/openai-wire-check.ts";
import { createSessionProject, note, type SessionProject } from "../support/session-project.ts";

/** What the providers would refuse about a request with these messages. */
function problemsOf(messages: readonly Message[]): string[] {
  const context = { systemPrompt: "s", messages, tools: [READ_TOOL] };
  return [
    ...checkAnthropicRequest(toAnthropicRequest(TEST_MODEL, context)),
    ...checkOpenAIRequest(toOpenAIRequest({ ...TEST_MODEL, provider: "openai" }, context, {})),
  ];
}

type Step =
  | { do: "run"; turns: TurnScript[]; stopAt: number; steerAt: number }
  | { do: "tell" }
  | { do: "crash"; lostBytes: number }
  | { do: "resume"; model: string }
  | { do: "branch" | "fork"; at: number };

const turn: fc.Arbitrary<TurnScript> = fc.oneof(
  fc.constant<TurnScript>({ text: "Done." }),
  fc.constant<TurnScript>({ thinking: "hm", text: "I note.", ...note("a", "b", "c") }),
  fc.constant<TurnScript>(note("a")),
  fc.constant<TurnScript>({ toolCalls: [{ id: "same", name: "none", input: "no JSON" }] }),
  fc.constant<TurnScript>({ ...note("a"), text: "cut", stopReason: "max_tokens" }),
  fc.constant<TurnScript>({ thinking: "only" }),
  fc.constant<TurnScript>({}),
  fc.constant<TurnScript>({ text: "half", error: { errorType: "auth", message: "no" } }),
);

const NEVER = 1000;
const NOTE = toShellNote({ command: "ls", output: "a.txt", exitCode: 0 });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("run" as const),
      turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
      stopAt: fc.oneof(fc.nat(30), fc.constant(NEVER)),
      steerAt: fc.oneof(fc.nat(30), fc.constant(NEVER)),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: "tell" as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("crash" as const), lostBytes: fc.nat(700) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("resume" as const),
      model: fc.constantFrom("scripted/test.json", "claude-other", "gpt-other"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("branch" as const, "fork" as const), at: fc.nat(20) }),
  },
);

async function run(
  session: SessionManager,
  { turns, stopAt, steerAt }: Extract<Step, { do: "run" }>,
  project: SessionProject,
) {
  project.play(...turns);
  const abort = new AbortController();
  let count = 0;
  await session.run(user("prompt"), { signal: abort.signal }).consume(() => {
    if (count === steerAt) {
      session.steer("rather this");
      void session.notify(NOTE);
    }
    if (count === stopAt) abort.abort();
    count++;
  });
}

async function take(each: Step, session: SessionManager, project: SessionProject): Promise<SessionManager> {
  if (each.do === "run") {
    await run(session, each, project);
    return session;
  }
  if (each.do === "tell") {
    await session.notify(NOTE);
    return session;
  }
  if (each.do === "branch" || each.do === "fork") {
    if (session.sessionPath === undefined) return session;
    const ids = project
      .lines(session.sessionId)
      .flatMap(({ type, id }) => (type === "message" ? [String(id)] : []));
    const id = ids[each.at % Math.max(1, ids.length)];
    if (each.do === "fork") return session.fork(id);
    session.branch(id ?? null);
    return session;
  }
  if (each.do === "crash" && session.sessionPath !== undefined) {
    const { length } = readFileSync(session.sessionPath);
    truncateSync(session.sessionPath, Math.max(300, length - each.lostBytes));
  }
  const next = project.manager(each.do === "resume" ? { model: { id: each.model } } : {});
  await next.resume({ sessionId: session.sessionId });
  return next;
}

test("whatever is done to a session, no provider would refuse its next request", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const project = await createSessionProject();
      let session = project.manager();
      for (const each of steps) {
        session = await take(each, session, project);
        const messages = [...session.context.messages, user("next")];
        expect(problemsOf(messages)).toEqual([]);
        // What the loop is given needs no mending by the providers' adapters either.
        expect(findRequestFault({ systemPrompt: "s", messages, tools: [READ_TOOL] })).toBeUndefined();
      }
      for (const messages of project.requests) expect(problemsOf(messages)).toEqual([]);
      session.flush();
      if (session.sessionPath === undefined) return;
      const reopened = project.manager();
      await reopened.resume({ sessionId: session.sessionId });
      expect(join(project.paths.sessions, `${reopened.sessionId}.jsonl`)).toBe(session.sessionPath);
    }),
    { numRuns: 150 },
  );
}, 60_000);
