import { describe, expect, test } from "bun:test";
import { planPruning } from "../../src/session/compaction/pruning.ts";
import type { SessionManager } from "../../src/session/manager.ts";
import { messageText } from "../../src/types.ts";
import { user } from "../support/agent-run.ts";
import { inLine } from "../support/context-entries.ts";
import { assistant, call, result } from "../support/messages.ts";
import { entry } from "../support/session-files.ts";
import { createSessionProject, note } from "../support/session-project.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";

const MODEL = { contextWindow: 20_000, maxOutputTokens: 2_000 };
const long = (word: string) => `${word} `.repeat(900);
const SUMMARY = { text: GOOD_SUMMARY };

async function open(...turns: Parameters<typeof createSessionProject>) {
  const project = await createSessionProject(...turns);
  return { project, session: project.manager({ model: MODEL }) };
}

const say = async (session: SessionManager, ...prompts: string[]) => {
  for (const prompt of prompts) await Array.fromAsync(session.run(user(prompt)));
};

const idOf = (session: SessionManager, text: string) => {
  const found = session.branches.path.find(
    (each) => each.type === "message" && JSON.stringify(each.message).includes(text),
  );
  if (!found) throw new Error(`No message has ${text}.`);
  return found.id;
};

const summaryOf = (session: SessionManager) => {
  const [first] = session.context.messages;
  return first?.role === "user" ? messageText(first) : "";
};

const ANSWER = `The depth limit is <pinned-message>31</pinned-message>.\n  Keep   the spaces.\n`;
describe("a pinned message", () => {
  test("is repeated verbatim by every compaction, also after the session was opened again", async () => {
    const { project, session } = await open(
      { text: ANSWER },
      note("evidence 4711"),
      { text: "two" },
      { text: long("three") },
      { text: long("four") },
    );
    await say(session, "one", "two");
    await session.pin(idOf(session, "depth limit"));
    await session.pin(
      session.branches.path.findLast((each) => each.type === "message" && each.message.role === "tool_result")
        ?.id ?? "",
    );
    await say(session, long("gamma"), long("delta"));
    project.play(SUMMARY, { text: long("five") }, SUMMARY, { text: "six" });
    await session.compact();
    for (const text of [ANSWER, "4711"]) expect(summaryOf(session)).toContain(text);
    session.close();
    const resumed = project.manager({ model: MODEL });
    await resumed.resume({ mostRecent: true });
    expect((await resumed.listPins()).entries).toHaveLength(2);
    project.play({ text: long("five") }, SUMMARY);
    await say(resumed, long("epsilon"));
    await resumed.compact();
    const last = summaryOf(resumed);
    for (const text of [ANSWER, "4711"]) expect(last).toContain(text);
    // The answer contains the tag, so the section uses another.
    expect(last).toContain(`<pinned-message-2>\n[${idOf(resumed, "depth limit")}] assistant\n${ANSWER}`);
    expect(last.match(/## Pinned\n/g)).toHaveLength(1);
  });

  test("changes no request before the next compaction, whether it is pinned or unpinned", async () => {
    const { project, session } = await open({ text: ANSWER }, { text: long("two") }, { text: long("three") });
    await say(session, "one", long("beta"), long("gamma"));
    const id = idOf(session, "depth limit");
    const before = session.context.messages;
    await session.pin(id);
    expect(session.context.messages).toEqual(before);
    project.play(SUMMARY, { text: long("four") }, SUMMARY);
    await session.compact();
    const compacted = session.context.messages;
    expect(summaryOf(session)).toContain(ANSWER);
    await session.unpin(id);
    expect(session.context.messages).toEqual(compacted);
    await say(session, long("delta"));
    await session.compact();
    expect(summaryOf(session)).not.toContain(ANSWER);
    // Pinned again, it comes back although it was summarized long ago.
    await session.pin(id);
    project.play({ text: long("five") }, SUMMARY);
    await say(session, long("epsilon"));
    await session.compact();
    expect(summaryOf(session)).toContain(ANSWER);
  });

  test("of the user stands among the pinned ones only", async () => {
    const { project, session } = await open({ text: "ok" }, { text: long("two") }, { text: long("three") });
    await say(session, "Never use semicolons.", long("beta"), long("gamma"));
    await session.pin(idOf(session, "semicolons"));
    project.play(SUMMARY);
    await session.compact();
    expect(summaryOf(session).match(/Never use semicolons\./g)).toHaveLength(1);
    expect(summaryOf(session)).toContain("] user\nNever use semicolons.");
  });

  test("is refused with the numbers if all pinned ones would take more than a tenth of the window", async () => {
    const { project, session } = await open(
      { text: "a".repeat(4_000) },
      { text: "b".repeat(5_000) },
      { text: "c" },
    );
    await say(session, "one", "two", "three");
    const first = await session.pin(idOf(session, "aaaa"));
    expect(first).toMatchObject({ kind: "pinned", maxTokens: 2_000 });
    const second = await session.pin(idOf(session, "bbbb"));
    expect(second).toEqual({ ...second, kind: "too_long", total: first.total, maxTokens: 2_000 });
    expect(second.tokens).toBeGreaterThan(1_250);
    expect((await session.listPins()).entries).toHaveLength(1);
    expect(project.lines().filter(({ type }) => type === "pin")).toHaveLength(1);
    await expect(session.pin("nowhere0")).rejects.toThrow("This conversation has no message nowhere0.");
  });

  test("that no longer fits a smaller window is left out of the summary with a notice", async () => {
    const { project, session } = await open(
      { text: "a".repeat(6_000) },
      { text: long("two") },
      { text: long("three") },
    );
    await say(session, "one", long("beta"), long("gamma"));
    await session.pin(idOf(session, "aaaa"));
    project.play(SUMMARY);
    session.useModel({ model: { ...project.model, contextWindow: 12_000, maxOutputTokens: 1_000 } });
    const notices: string[] = [];
    await session.compact({ emit: (event) => void (event.type === "notice" && notices.push(event.code)) });
    expect(notices).toContain("pins_left_out");
    expect(summaryOf(session)).not.toContain("aaaa");
  });

  test("stays pinned in a copy of the session", async () => {
    const { session } = await open({ text: ANSWER }, { text: "two" });
    await say(session, "one");
    await session.pin(idOf(session, "depth limit"));
    await say(session, "two");
    const copy = await session.fork();
    expect((await copy.listPins()).entries.map(({ id }) => id)).toEqual([idOf(session, "depth limit")]);
  });
});

test("planPruning() leaves a pinned result whole", () => {
  const path = inLine(
    entry("a1", null, user("go")),
    ...["1", "2", "3"].flatMap((id) => [
      entry(`c${id}`, null, assistant([call(id)])),
      entry(`r${id}`, null, result(id, "x".repeat(40_000))),
    ]),
    entry("a9", null, assistant([call("9")])),
  );
  const limits = {
    enabled: true,
    softTrimChars: 100,
    softTrimHead: 10,
    softTrimTail: 10,
    hardClearAfter: 9,
    keepLast: 1,
    minimumTokens: 1,
    protectTokens: 0,
    startRatio: 0,
  };
  expect(planPruning(path, limits)?.trimmed).toEqual(["r1", "r2"]);
  expect(planPruning(path, { ...limits, spared: new Set(["r1"]) })?.trimmed).toEqual(["r2"]);
});
