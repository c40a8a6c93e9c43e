import { describe, expect, test } from "bun:test";
import type { AgentEvent } from "../../src/agent/types.ts";
import { readSessionFile } from "../../src/session/persistence.ts";
import type { Message } from "../../src/types.ts";
import { type TurnScript, user } from "../support/agent-run.ts";
import { createSessionProject, note } from "../support/session-project.ts";

const WINDOW = { contextWindow: 20_000, maxOutputTokens: 4_000 };

const SUMMARY = [
  "## Goal\n\nBuild the parser that the user asked for, with a test for every rule of the grammar.",
  "## Progress\n\n### Done\n\n- [x] The lexer, with its tests, all of which pass.\n\n### In Progress\n\n- [ ] The parser.",
  "## Critical Context\n\n- The grammar stands in grammar.txt; numbers may have underscores.",
].join("\n\n");

const summary: TurnScript = { text: SUMMARY };
const OVERFLOW: TurnScript = { error: { errorType: "context_overflow", message: "prompt is too long" } };

/** A prompt of about so many tokens. */
const long = (word: string, tokens: number) => `${word} `.repeat(Math.ceil((tokens * 4) / (word.length + 1)));

const ofType = (events: readonly AgentEvent[], type: AgentEvent["type"]) =>
  events.filter((event) => event.type === type);

const firstText = (messages: readonly Message[] | undefined) => {
  const content = messages?.[0]?.role === "user" ? messages[0].content : "";
  return typeof content === "string" ? content : "";
};

async function run(
  session: { run: (message: ReturnType<typeof user>) => AsyncIterable<AgentEvent> },
  text: string,
) {
  const events: AgentEvent[] = [];
  for await (const event of session.run(user(text))) events.push(event);
  return events;
}

describe("before a run", () => {
  test("a conversation above the threshold is compacted: summary, kept messages, and a smaller request", async () => {
    const project = await createSessionProject({ text: "one" }, { text: "two" }, summary, { text: "three" });
    const session = project.manager({ model: WINDOW });
    await run(session, long("alpha", 4_900));
    await run(session, long("beta", 4_900));
    const events = await run(session, long("and now?", 6_000));

    expect(ofType(events, "compaction_start")).toHaveLength(1);
    const [end] = ofType(events, "compaction_end");
    if (end?.type !== "compaction_end") throw new Error("no compaction_end");
    expect(end.tokensBefore).toBeGreaterThan(14_000);
    expect(end.tokensAfter).toBeLessThan(16_000);
    const request = project.requests.at(-1);
    expect(firstText(request)).toStartWith("[Session Summary]\n## Goal");
    expect(request?.at(-1)).toMatchObject({ role: "user", content: long("and now?", 6_000) });
    expect(project.lines().map(({ type }) => type)).toEqual([
      "session",
      ...["message", "message", "message", "message", "message"],
      "compaction",
      "message",
    ]);
  });

  test("a resumed session begins its requests with the summary", async () => {
    const project = await createSessionProject({ text: "one" }, { text: "two" }, summary, { text: "three" });
    const session = project.manager({ model: WINDOW });
    await run(session, long("alpha", 4_900));
    await run(session, long("beta", 4_900));
    await run(session, long("and now?", 6_000));
    session.close();
    const before = project.requests.at(-1) ?? [];

    project.play({ text: "four" });
    const resumed = project.manager({ model: WINDOW });
    expect(await resumed.resume({ mostRecent: true })).toBe(true);
    await run(resumed, "go on");
    expect(project.requests.at(-1)?.slice(0, before.length)).toEqual([...before]);
  });

  test("what the provider counted decides, not the length of the texts", async () => {
    const usage = { inputTokens: 16_000, outputTokens: 10 };
    const project = await createSessionProject({ text: "one", usage }, { text: "two", usage }, summary, {
      text: "three",
    });
    const session = project.manager({ model: WINDOW });
    await run(session, "short");
    const events = await run(session, "shorter");
    expect(ofType(events, "compaction_end")).toHaveLength(1);
    const purposes = events.flatMap((event) => (event.type === "usage" ? [event.purpose] : []));
    expect([purposes[0], purposes.at(-1)]).toEqual(["summary", undefined]);
  });
});

test("a summary that is long or names nothing of the conversation is used, with a warning for each", async () => {
  const longSummary = { text: SUMMARY + " and so on".repeat(900) };
  const project = await createSessionProject({ text: "one" }, { text: "two" }, longSummary);
  const session = project.manager();
  await run(session, long("fixLexer in lexer.ts, max_depth, ERR_RANGE", 2_000));
  await run(session, long("beta", 2_000));
  const notices: string[] = [];
  const outcome = await session.compact({
    emit: (event) => event.type === "notice" && notices.push(`${event.level} ${event.code}`),
  });
  expect(outcome).toMatchObject({ kind: "compacted", entry: { summary: longSummary.text } });
  expect(notices).toEqual(["warning summary_long", "warning summary_content"]);
});

describe("the events of a compaction", () => {
  const other = (project: Awaited<ReturnType<typeof createSessionProject>>, turn: TurnScript) => ({
    summarizer: async () => ({ model: project.model, streamFunction: project.playing(turn, turn) }),
  });
  const compactionEvents = (events: readonly AgentEvent[]) =>
    events.flatMap((event) => {
      if (event.type === "compaction_start") return [event.trigger];
      return event.type === "compaction_end" ? [event.rung, event.validation.failure] : [];
    });

  const notices = (events: readonly AgentEvent[]) =>
    events.flatMap((event) => (event.type === "notice" ? [event.message] : []));

  test("name what caused it and who wrote the summary", async () => {
    const project = await createSessionProject({ text: "one" }, { text: "two" }, OVERFLOW, { text: "three" });
    const session = project.manager({ context: other(project, summary) });
    await run(session, long("alpha", 2_000));
    await run(session, long("beta", 2_000));
    expect(compactionEvents(await run(session, "go"))).toEqual(["overflow", "model", undefined]);

    project.play({ text: "four" });
    const events: AgentEvent[] = [];
    await run(session, long("gamma", 2_000));
    await session.compact({ emit: (event) => events.push(event) });
    expect(compactionEvents(events)).toEqual(["manual", "model", undefined]);
  });

  test("say that a program wrote the summary, and why", async () => {
    const no = { text: "no" };
    const project = await createSessionProject({ text: "one" }, { text: "two" }, no, no);
    const session = project.manager({ context: other(project, no) });
    await run(session, long("alpha", 2_000));
    await run(session, long("beta", 2_000));
    const events: AgentEvent[] = [];
    await session.compact({ emit: (event) => events.push(event) });
    expect(compactionEvents(events)).toEqual(["manual", "program", "the summary had only 2 characters"]);
    expect(notices(events)).toEqual([
      "The session's own model writes the summary: the summary had only 2 characters",
      "Used a fallback summary: the summary had only 2 characters",
    ]);
  });

  test("name the session's model when the model for summaries fails, which is asked first again next time", async () => {
    const missing: TurnScript = { error: { errorType: "invalid_request", message: "404: no such model" } };
    const project = await createSessionProject({ text: "one" }, { text: "two" }, summary, { text: "three" });
    const preferred = project.playing(missing, summary);
    const session = project.manager({
      context: { summarizer: async () => ({ model: project.model, streamFunction: preferred }) },
    });
    await run(session, long("alpha", 2_000));
    await run(session, long("beta", 2_000));
    const first: AgentEvent[] = [];
    await session.compact({ emit: (event) => first.push(event) });
    expect(compactionEvents(first)).toEqual(["manual", "session_model", undefined]);
    expect(notices(first)).toEqual([
      expect.stringMatching(/^The session's own model writes the summary: .*404: no such model/),
    ]);
    await run(session, long("gamma", 2_000));
    const second: AgentEvent[] = [];
    await session.compact({ emit: (event) => second.push(event) });
    expect(compactionEvents(second)).toEqual(["manual", "model", undefined]);
    expect(notices(second)).toEqual([]);
  });

  test("tell of pruned results with the ids of their entries and what was gained", async () => {
    const turns = Array.from({ length: 12 }, (_, index) => note(`${index} ${"word ".repeat(700)}`));
    const project = await createSessionProject(...turns, { text: "done" });
    const session = project.manager({ model: WINDOW, context: { compaction: { enabled: false } } });
    const events = await run(session, "read all of it");
    const told = events.flatMap((event) => (event.type === "prune" ? [event] : []));
    const saved = project.lines().filter(({ type }) => type === "prune");
    expect(new Set(told.flatMap(({ entryIds }) => entryIds))).toEqual(
      new Set(saved.flatMap(({ cleared, trimmed }) => [cleared, trimmed].flat().map(String))),
    );
    expect(told.length).toBeGreaterThan(1);
    for (const { tokensBefore, tokensAfter } of told) expect(tokensBefore - tokensAfter).toBeGreaterThan(500);
  });
});

describe("inside a run", () => {
  test("each model request is checked, so a long turn is split and continues", async () => {
    const turns = Array.from({ length: 30 }, (_, index) => note(`${index} ${"word ".repeat(700)}`));
    const project = await createSessionProject(...turns, { text: "done" });
    const scripts = { summaries: 0 };
    const session = project.manager({
      model: WINDOW,
      context: {
        summarizer: async () => {
          scripts.summaries++;
          return { model: project.model, streamFunction: project.playing({ text: SUMMARY }) };
        },
        compaction: { pruning: { enabled: false } },
      },
    });
    const events = await run(session, "work through it");
    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "end_turn" });
    expect(scripts.summaries).toBeGreaterThan(3);
    for (const request of project.requests.slice(10))
      expect(firstText(request)).toStartWith("[Session Summary]");
    expect(firstText(project.requests.at(-1))).toContain("work through it");
  });
});

describe("on an overflow that the provider reports", () => {
  test("the context is compacted and the request made once more", async () => {
    const project = await createSessionProject({ text: "one" }, { text: "two" }, OVERFLOW, summary, {
      text: "three",
    });
    const session = project.manager({ model: WINDOW });
    await run(session, long("alpha", 3_000));
    await run(session, long("beta", 3_000));
    const events = await run(session, "and now?");
    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "end_turn" });
    expect(ofType(events, "compaction_end")).toHaveLength(1);
    expect(project.requests).toHaveLength(5);
  });

  test("a second overflow ends the run with the provider's words", async () => {
    const project = await createSessionProject({ text: "one" }, { text: "two" }, OVERFLOW, summary, OVERFLOW);
    const session = project.manager({ model: WINDOW });
    await run(session, long("alpha", 3_000));
    await run(session, long("beta", 3_000));
    const end = (await run(session, "and now?")).at(-1);
    expect(end).toMatchObject({ stopReason: "error", error: { errorType: "context_overflow" } });
    expect(project.requests).toHaveLength(5);
  });

  test("a reply that the window had no room for is asked for anew after a compaction", async () => {
    const cut: TurnScript = { text: "half an ans", stopReason: "model_context_window_exceeded" };
    const project = await createSessionProject({ text: "one" }, { text: "two" }, cut, summary, {
      text: "whole",
    });
    const session = project.manager({ model: WINDOW });
    await run(session, long("alpha", 3_000));
    await run(session, long("beta", 3_000));
    const events = await run(session, "and now?");
    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "end_turn" });
    expect(project.lines().at(-1)).toMatchObject({ message: { content: [{ type: "text", text: "whole" }] } });
  });
});

describe("when it cannot help", () => {
  test("a fixed prompt above half of the window is refused with both numbers, and nothing is sent", async () => {
    const project = await createSessionProject({ text: "never" });
    const session = project.manager({ model: { contextWindow: 4_000 }, systemPrompt: "x".repeat(12_000) });
    const end = (await run(session, "hello")).at(-1);
    expect(end).toMatchObject({ stopReason: "error", error: { errorType: "context_overflow" } });
    const text = end?.type === "agent_end" ? end.error?.message : "";
    expect(text).toMatch(/about 30\d\d tokens, more than half of the window of 4000 tokens/);
    expect(project.requests).toHaveLength(0);
  });

  test("a prompt larger than the window is a clear stop without a request", async () => {
    const project = await createSessionProject({ text: "never" });
    const session = project.manager({ model: WINDOW });
    const end = (await run(session, long("gamma", 25_000))).at(-1);
    expect(end).toMatchObject({ stopReason: "error", error: { errorType: "context_overflow" } });
    expect(project.requests).toHaveLength(0);
  });

  test("three compactions in a row that free nothing are the last", async () => {
    const usage = { inputTokens: 19_000, outputTokens: 10 };
    const project = await createSessionProject(
      ...Array.from({ length: 12 }, (_, index) => ({ ...note(`call ${index}`), usage })),
      { text: "end" },
    );
    let summaries = 0;
    const session = project.manager({
      model: WINDOW,
      context: {
        summarizer: async () => {
          summaries++;
          return { model: project.model, streamFunction: project.playing({ text: SUMMARY }) };
        },
      },
    });
    const events = await run(session, "go");
    expect(summaries).toBe(3);
    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "end_turn" });
  });
});

describe("with compaction.enabled: false", () => {
  const off = { enabled: false };
  const reading = () => Array.from({ length: 12 }, (_, index) => note(`${index} ${"word ".repeat(700)}`));

  test("old tool results are pruned all the same, without a summary", async () => {
    const project = await createSessionProject(...reading(), { text: "done" });
    const session = project.manager({ model: WINDOW, context: { compaction: off } });
    const events = await run(session, "read all of it");
    expect(events.at(-1)).toMatchObject({ stopReason: "end_turn" });
    const types = project.lines().map(({ type }) => type);
    expect(types.filter((type) => type === "prune").length).toBeGreaterThan(0);
    expect(types).not.toContain("compaction");
    const shown = JSON.stringify(project.requests.at(-1));
    expect(shown).toContain("[Tool output cleared");
    expect(shown).toContain("11 word word");
  });

  test("a refused request is made again with shorter results where there are any", async () => {
    const project = await createSessionProject(note("word ".repeat(2_000)), OVERFLOW, { text: "done" });
    const session = project.manager({ model: WINDOW, context: { compaction: off } });
    const events = await run(session, "read it");
    expect(events.at(-1)).toMatchObject({ stopReason: "end_turn" });
    expect(project.lines().map(({ type }) => type)).not.toContain("compaction");
    expect(JSON.stringify(project.requests.at(-1))).toContain("--- trimmed (kept ");
  });

  test("nothing is pruned where pruning is switched off, too", async () => {
    const project = await createSessionProject(...reading(), { text: "done" });
    const compaction = { ...off, pruning: { enabled: false } };
    await run(project.manager({ model: WINDOW, context: { compaction } }), "read all of it");
    expect(project.lines().some(({ type }) => type === "compaction" || type === "prune")).toBe(false);
  });
});

test("with compaction.enabled: false nothing is summarised, and an overflow without tool results is an error", async () => {
  const project = await createSessionProject({ text: "one" }, { text: "two" }, OVERFLOW);
  const session = project.manager({ model: WINDOW, context: { compaction: { enabled: false } } });
  await run(session, long("alpha", 9_000));
  await run(session, long("beta", 9_000));
  const events = await run(session, "and now?");
  expect(events.at(-1)).toMatchObject({ stopReason: "error", error: { errorType: "context_overflow" } });
  expect(project.lines().some(({ type }) => type === "compaction" || type === "prune")).toBe(false);
});

describe("by hand", () => {
  test("the focus reaches the model, and a prompt sent meanwhile waits", async () => {
    const project = await createSessionProject(
      { text: "one" },
      { text: "two" },
      { ...summary, delayMs: 50 },
      { text: "three" },
    );
    const session = project.manager({ model: WINDOW });
    await run(session, long("alpha", 2_000));
    await run(session, long("beta", 2_000));
    const events: AgentEvent[] = [];
    const compacting = session.compact({ focus: "the parser", emit: (event) => events.push(event) });
    const runEvents = await run(session, "meanwhile");
    expect(await compacting).toMatchObject({ kind: "compacted" });
    expect(JSON.stringify(project.requests[2])).toContain("the parser");
    expect(events.map(({ type }) => type)).toEqual(["compaction_start", "usage", "compaction_end"]);
    expect(runEvents.at(-1)).toMatchObject({ stopReason: "end_turn" });
    expect(firstText(project.requests[3])).toStartWith("[Session Summary]");
    expect(project.requests[3]?.at(-1)).toMatchObject({ content: "meanwhile" });
  });

  test("cancelling leaves the session as it was", async () => {
    const project = await createSessionProject(
      { text: "one" },
      { text: "two" },
      { ...summary, delayMs: 5_000 },
    );
    const session = project.manager({ model: WINDOW });
    await run(session, long("alpha", 2_000));
    await run(session, long("beta", 2_000));
    const before = project.lines();
    const abort = new AbortController();
    const compacting = session.compact({ signal: abort.signal });
    setTimeout(() => abort.abort(), 20);
    expect(await compacting).toEqual({ kind: "aborted" });
    expect(project.lines()).toEqual(before);
  });

  test("two at once are one, and an empty session has nothing to summarise", async () => {
    const project = await createSessionProject({ text: "one" }, { text: "two" }, summary);
    const session = project.manager({ model: WINDOW });
    expect(await session.compact()).toEqual({ kind: "nothing" });
    await run(session, long("alpha", 2_000));
    await run(session, long("beta", 2_000));
    const [first, second] = await Promise.all([session.compact(), session.compact()]);
    expect(first).toBe(second);
    expect(project.lines().filter(({ type }) => type === "compaction")).toHaveLength(1);
  });

  test("the system prompt is built anew", async () => {
    const project = await createSessionProject({ text: "one" }, { text: "two" }, summary, { text: "three" });
    const session = project.manager({ model: WINDOW, context: { buildSystemPrompt: async () => "Fresh." } });
    await run(session, long("alpha", 2_000));
    await run(session, long("beta", 2_000));
    await session.compact();
    await run(session, "go on");
    expect(project.systemPrompts).toEqual(["Test.", "Test.", expect.any(String), "Fresh."]);
  });
});

test("a summary that no model gives is made by program, and nothing is lost", async () => {
  const junk: TurnScript = { text: "ok" };
  const project = await createSessionProject({ text: "one" }, { text: "two" }, junk, junk, { text: "three" });
  const session = project.manager({ model: WINDOW });
  await run(session, `${long("alpha", 1_000)} never touch main.c`);
  await run(session, long("beta", 12_000));
  const events = await run(session, long("and now?", 3_000));
  expect(ofType(events, "notice")).toContainEqual(expect.objectContaining({ code: "compaction_fallback" }));
  expect(firstText(project.requests.at(-1))).toContain("never touch main.c");
  expect(events.at(-1)).toMatchObject({ stopReason: "end_turn" });
  expect(
    readSessionFile(session.sessionPath ?? "").entries.filter(({ type }) => type === "message"),
  ).toHaveLength(6);
});

test("a provider that was out of order and refused next to nothing is asked again for what it takes", async () => {
  const project = await createSessionProject(
    { text: "one" },
    ...[OVERFLOW, summary, OVERFLOW],
    { text: "two" },
    { text: "three" },
  );
  const session = project.manager({ model: WINDOW });
  await run(session, long("alpha", 900));
  expect((await run(session, "and now?")).at(-1)).toMatchObject({ stopReason: "error" });
  for (const prompt of ["again", long("beta", 1_500)]) {
    expect((await run(session, prompt)).at(-1)).toMatchObject({ stopReason: "end_turn" });
  }
});
