import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { ensureDiligentDir } from "../../src/infrastructure/diligent-dir.ts";
import { SessionManager, type SessionManagerConfig } from "../../src/session/manager.ts";
import { parseDamagedLine, parseSessionLine } from "../../src/session/parse-line.ts";
import type { SessionEntry } from "../../src/session/types.ts";
import { findUndoable, withoutUndone } from "../../src/session/undone-compactions.ts";
import type { Tool } from "../../src/tool/types.ts";
import { user } from "../support/agent-run.ts";
import { compaction, inLine, prune } from "../support/context-entries.ts";
import { assistant, call, result, text } from "../support/messages.ts";
import { entry, readJsonLines, STAMP } from "../support/session-files.ts";
import { startSseServer } from "../support/sse-server.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { WIRE_SERVICES, type WireServiceName } from "../support/wire-services.ts";

const undo = (id: string, targetId: string): SessionEntry => ({
  type: "compaction_undo",
  id,
  parentId: null,
  timestamp: STAMP,
  targetId,
});

const ECHO: Tool = {
  name: "echo",
  description: "Echo.",
  parameters: z.object({ text: z.string() }),
  readOnly: true,
  approval: () => undefined,
  execute: async ({ text: said = "" }: { text?: string }) => ({ output: said }),
};

interface Talk {
  session: SessionManager;
  say(prompt: string): Promise<void>;
  /** A session of the same project that was opened anew. */
  resume(): Promise<Talk>;
}

/** Sessions whose model answers each prompt with a call and a text, over the real wire format. */
async function openTalk(
  service: WireServiceName,
  options: Partial<SessionManagerConfig> & { contextWindow?: number } = {},
) {
  const bodies: string[] = [];
  const server = await startSseServer(({ body }) => {
    const json = JSON.stringify(body);
    const inputTokens = Math.ceil(json.length / 4);
    if (!json.includes('"echo"')) return { events: toEvents({ text: GOOD_SUMMARY, inputTokens }) };
    bodies.push(json);
    const input = { text: `result ${"word ".repeat(300)}` };
    const isCall = bodies.length % 2 === 1;
    const answer = isCall
      ? { calls: [{ id: `call_${bodies.length}`, name: "echo", input }] }
      : { text: "Done." };
    return { events: toEvents({ ...answer, inputTokens }) };
  });
  const { toEvents, connect } = WIRE_SERVICES[service];
  const project = makeTempDir();
  const paths = await ensureDiligentDir(project);
  const { contextWindow = 40_000, ...rest } = options;
  let prompts = 0;
  const open = (): Talk => {
    const session: SessionManager = new SessionManager({
      cwd: project,
      paths,
      sessionId: "20260101000000-abcdef",
      context: { buildSystemPrompt: async () => `Prompt ${++prompts}.` },
      agentConfig: {
        model: {
          id: service === "openai" ? "gpt-5.4" : "claude-sonnet-5",
          provider: service,
          contextWindow,
          maxOutputTokens: 4_000,
          thinking: "none",
        },
        systemPrompt: "Prompt 0.",
        tools: [ECHO, { ...ECHO, name: "look_up", isOffered: () => session.hasHiddenEntries }],
        streamFunction: connect(server.url),
      },
      ...rest,
    });
    return {
      session,
      say: async (prompt) => void (await Array.fromAsync(session.run(user(prompt)))),
      async resume() {
        session.close();
        const again = open();
        await again.session.resume({ mostRecent: true });
        return again;
      },
    };
  };
  return {
    ...open(),
    bodies,
    lines: () => readJsonLines(`${paths.sessions}/20260101000000-abcdef.jsonl`),
    problems: server.problems,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe.each(["anthropic", "openai"] as const)("undoCompaction() over the wire format of %s", (service) => {
  test("gives the next request the bytes that it would have had without the compaction", async () => {
    await using control = await openTalk(service);
    for (const prompt of ["one", "two", "three", "next"]) await control.say(prompt);
    await using talk = await openTalk(service);
    for (const prompt of ["one", "two", "three"]) await talk.say(prompt);
    expect(await talk.session.compact()).toMatchObject({ kind: "compacted" });
    const outcome = await talk.session.undoCompaction();
    expect(outcome).toMatchObject({ kind: "undone" });
    await talk.say("next");
    expect(talk.bodies).toEqual(control.bodies);
    expect(talk.problems).toEqual([]);
  });

  test("works after the session was opened again, where the bytes are those of a session that was opened again", async () => {
    await using control = await openTalk(service);
    for (const prompt of ["one", "two", "three"]) await control.say(prompt);
    await (await control.resume()).say("next");
    await using talk = await openTalk(service);
    for (const prompt of ["one", "two", "three"]) await talk.say(prompt);
    await talk.session.compact();
    const second = await talk.resume();
    expect(await second.session.undoCompaction()).toMatchObject({ kind: "undone" });
    await (await second.resume()).say("next");
    expect(talk.bodies).toEqual(control.bodies);
  });

  test("undoes the last of two compactions, and called again the one before it", async () => {
    await using talk = await openTalk(service);
    for (const prompt of ["one", "two", "three"]) await talk.say(prompt);
    await talk.session.compact();
    for (const prompt of ["four", "five"]) await talk.say(prompt);
    const before = talk.session.context.messages;
    await talk.session.compact();
    expect(talk.session.context.messages).not.toEqual(before);
    await talk.session.undoCompaction();
    expect(talk.session.context.messages).toEqual(before);
    await talk.session.undoCompaction();
    const all = talk.session.branches.path.flatMap((each) => (each.type === "message" ? [each.message] : []));
    expect(talk.session.context.messages).toEqual(all);
    expect(talk.session.hasHiddenEntries).toBe(false);
    expect(await talk.session.undoCompaction()).toEqual({ kind: "nothing" });
    await talk.say("six");
    const [firstRequest = "", lastRequest = ""] = [talk.bodies[0], talk.bodies.at(-1)];
    expect(lastRequest).toContain('"Prompt 0."');
    expect(firstRequest).toContain('"Prompt 0."');
    expect(talk.problems).toEqual([]);
  });

  test("keeps the prompts since the compaction, behind the context that it restores", async () => {
    await using talk = await openTalk(service);
    for (const prompt of ["one", "two", "three"]) await talk.say(prompt);
    const before = talk.session.context.messages;
    await talk.session.compact();
    const [summary] = talk.session.context.messages;
    await talk.say("four");
    const since = talk.session.context.messages.slice(-4);
    await talk.session.undoCompaction();
    expect(talk.session.context.messages).toEqual([...before, ...since]);
    expect(talk.session.context.messages).not.toContainEqual(summary);
    await talk.say("five");
    expect(talk.problems).toEqual([]);
  });
});

test("undoCompaction() changes nothing if the previous context does not fit, and says both sizes", async () => {
  await using talk = await openTalk("anthropic", { context: { compaction: { reserveTokens: 500 } } });
  for (const prompt of ["one", "two", "three"]) await talk.say(prompt);
  await talk.session.compact();
  const { model } = {
    model: { id: "claude-small", provider: "anthropic", contextWindow: 1_200, maxOutputTokens: 100 },
  };
  talk.session.useModel({ model });
  const before = talk.session.context.messages;
  const entries = talk.lines().length;
  const outcome = await talk.session.undoCompaction();
  expect(outcome).toMatchObject({ kind: "too_long", maxTokens: 700 });
  if (outcome.kind === "too_long") expect(outcome.tokens).toBeGreaterThan(700);
  expect(talk.session.context.messages).toEqual(before);
  expect(talk.lines()).toHaveLength(entries);
});

test("a compaction after an undo summarizes the whole conversation again", async () => {
  await using talk = await openTalk("anthropic");
  for (const prompt of ["one", "two", "three"]) await talk.say(prompt);
  await talk.session.compact();
  await talk.session.undoCompaction();
  await talk.session.compact();
  const compactions = talk.session.branches.path.filter(({ type }) => type === "compaction");
  expect(compactions).toHaveLength(2);
  const [first, second] = compactions;
  expect({ ...second, id: "", parentId: "", timestamp: "" }).toEqual({
    ...first,
    id: "",
    parentId: "",
    timestamp: "",
  });
});

test("the lines of a compaction and of its undo begin as those that are recovered from damaged ones", async () => {
  await using talk = await openTalk("anthropic");
  for (const prompt of ["one", "two", "three"]) await talk.say(prompt);
  await talk.session.compact();
  await talk.session.undoCompaction();
  const lines = talk
    .lines()
    .slice(-2)
    .map((line) => JSON.stringify(line));
  const recovered = parseDamagedLine(lines.join(""));
  expect(recovered.map((line) => (line.kind === "entry" ? line.entry.type : line.kind))).toEqual([
    "compaction",
    "compaction_undo",
  ]);
});

describe("withoutUndone()", () => {
  const talk = [
    entry("a1", null, user("go")),
    entry("a2", null, assistant([call("1")])),
    entry("a3", null, result("1", "long")),
    entry("a4", null, assistant([text("done")])),
    compaction("c1", null, { firstKeptEntryId: "a4" }),
  ];

  test("is the branch itself without an undo entry, and the branch before the compaction after one", () => {
    const path = inLine(...talk);
    expect(withoutUndone(path)).toBe(path);
    const restored = withoutUndone(inLine(...talk, undo("u1", "c1")));
    expect(restored.map(({ id }) => id)).toEqual(["a1", "a2", "a3", "a4"]);
    expect(findUndoable(inLine(...talk, undo("u1", "c1")))).toBeUndefined();
  });

  test("leaves what was pruned since the compaction whole where it precedes it, and pruned where it follows", () => {
    const path = inLine(
      ...talk,
      entry("b1", null, user("more")),
      entry("b2", null, assistant([call("2")])),
      entry("b3", null, result("2", "longer")),
      prune("p1", null, { cleared: ["a3", "b3"] }),
      undo("u1", "c1"),
    );
    const restored = withoutUndone(path);
    expect(restored.find(({ id }) => id === "p1")).toMatchObject({ cleared: ["b3"], trimmed: [] });
    expect(restored.map(({ id }) => id)).toEqual(["a1", "a2", "a3", "a4", "b1", "b2", "b3", "p1", "u1"]);
    expect(withoutUndone(restored)).toEqual(restored);
  });

  test("ignores an entry that names no compaction before it", () => {
    const path = inLine(...talk, undo("u1", "nowhere"));
    expect(findUndoable(path)?.id).toBe("c1");
  });
});

test("a reader that does not know the entry keeps it and the chain of parents", () => {
  const line = parseSessionLine(JSON.stringify({ ...undo("u1", "c1"), type: "compaction_undo_of_later" }));
  expect(line).toMatchObject({ kind: "entry", entry: { type: "unknown", id: "u1" } });
  expect(parseSessionLine(JSON.stringify({ ...undo("u1", "c1"), targetId: 3 }))).toMatchObject({
    entry: { type: "unknown" },
  });
});
