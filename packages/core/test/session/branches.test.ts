import { describe, expect, test } from "bun:test";
import type { AgentEvent } from "../../src/agent/types.ts";
import type { SessionManager } from "../../src/session/manager.ts";
import { buildSessionTree, type SessionTreeNode } from "../../src/session/tree.ts";
import { user } from "../support/agent-run.ts";
import { chain, entry, entryId } from "../support/session-files.ts";
import { createSessionProject } from "../support/session-project.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";

type Outline = [string, ...Outline[]];

const outline = ({ entry: { id }, children }: SessionTreeNode): Outline => [id, ...children.map(outline)];

async function say(session: SessionManager, ...texts: string[]) {
  for (const text of texts) await session.run(user(text)).result();
}

const said = (session: SessionManager) =>
  session.context.messages.map(({ role, ...message }) => ("content" in message ? message.content : role));

describe("the tree of a session", () => {
  test("has a branch wherever two entries follow the same one, in the order of the file", () => {
    const entries = [entry("a", null), entry("b", "a"), entry("c", "b"), entry("d", "a"), entry("e", "d")];
    expect(buildSessionTree(entries).map(outline)).toEqual([["a", ["b", ["c"]], ["d", ["e"]]]]);
  });

  test("begins anew where somebody went on from the beginning", () => {
    const entries = [entry("a", null), entry("b", "a"), entry("c", null)];
    expect(buildSessionTree(entries).map(outline)).toEqual([["a", ["b"]], ["c"]]);
  });

  test("survives entries that name each other as ancestors, and parents that are missing", () => {
    const entries = [entry("a", "b"), entry("b", "a"), entry("c", "gone"), entry("d", "d")];
    const all = buildSessionTree(entries).map(outline).flat(9);
    expect(all.sort()).toEqual(["a", "b", "c", "d"]);
  });

  test("may be thousands of entries deep", () => {
    let node = buildSessionTree(chain(20_000))[0];
    let depth = 0;
    for (; node; node = node.children[0]) depth++;
    expect(depth).toBe(20_000);
  });
});

describe("labels", () => {
  test("are kept in the file, replaced and taken away", async () => {
    const project = await createSessionProject({ text: "one" });
    const session = project.manager();
    await say(session, "go");
    const [first] = session.branches.path;
    const id = first?.id ?? "";
    session.branches.label(id, " start ");
    expect(session.branches.labels).toEqual(new Map([[id, "start"]]));
    expect(project.lines().at(-1)).toMatchObject({ type: "label", targetId: id, label: "start" });
    session.branches.label(id, "begin");
    const later = project.manager();
    await later.resume({ mostRecent: true });
    expect(later.branches.labels).toEqual(new Map([[id, "begin"]]));
    later.branches.label(id, " ");
    expect(later.branches.labels).toEqual(new Map());
    expect(later.leafId).toBe(session.leafId);
  });

  test("need an entry", async () => {
    const project = await createSessionProject();
    expect(() => project.manager().branches.label("nowhere1", "x")).toThrow("no entry nowhere1");
  });
});

test("a session has the name it was given last", async () => {
  const project = await createSessionProject({ text: "one" });
  const session = project.manager();
  await say(session, "go");
  expect(session.branches.name).toBeUndefined();
  session.rename("first");
  session.rename("second");
  expect(session.branches.name).toBe("second");
  session.rename();
  expect(session.branches.name).toBeUndefined();
});

describe("leaving a branch with a summary", () => {
  async function branched() {
    const project = await createSessionProject({ text: "one" }, { text: "two" }, { text: "three" });
    const session = project.manager({
      context: {
        summarizer: async () => ({
          model: { ...project.model, inputCostPer1M: 1, outputCostPer1M: 1 },
          streamFunction: project.playing({ text: GOOD_SUMMARY }),
        }),
      },
    });
    await say(session, "first", "second", "third");
    return { project, session };
  }

  test("continues after the entry, with a summary of the branch", async () => {
    const { project, session } = await branched();
    const [, answer] = session.branches.path;
    const leaf = session.leafId;
    const events: AgentEvent[] = [];
    expect(await session.branches.leave(answer?.id ?? null, { emit: (event) => events.push(event) })).toBe(
      true,
    );
    expect(events).toMatchObject([{ type: "usage", purpose: "summary" }]);
    expect(project.lines().at(-1)).toMatchObject({
      type: "branch_summary",
      parentId: answer?.id,
      fromId: leaf,
      summary: GOOD_SUMMARY,
    });
    expect(said(session)).toEqual([
      "first",
      [{ type: "text", text: "one" }],
      `[Branch Summary]\n${GOOD_SUMMARY}`,
    ]);
    const later = project.manager();
    await later.resume({ mostRecent: true });
    expect(said(later)).toEqual(said(session));
  });

  test("tells the model only of what is left", async () => {
    const requests: string[] = [];
    const project = await createSessionProject({ text: "one" }, { text: "two" });
    const play = project.playing({ text: GOOD_SUMMARY });
    const session = project.manager({
      context: {
        summarizer: async () => ({
          model: project.model,
          streamFunction: (model, context, options) => {
            requests.push(JSON.stringify(context.messages));
            return play(model, context, options);
          },
        }),
      },
    });
    await say(session, "shared words", "left words");
    await session.branches.leave(session.branches.path[1]?.id ?? null);
    expect(requests).toEqual([expect.stringContaining("left words")]);
    expect(requests[0]).not.toContain("shared words");
  });

  test("is nothing but going there when nothing is left behind", async () => {
    const { project, session } = await branched();
    const lines = project.lines().length;
    expect(await session.branches.leave(session.leafId)).toBe(true);
    expect(project.lines()).toHaveLength(lines);
  });

  test("leaves everything as it was when it is stopped, when nobody can be asked and when there is no such entry", async () => {
    const { project, session } = await branched();
    const before = [session.leafId, project.lines().length];
    expect(await session.branches.leave(null, { signal: AbortSignal.abort() })).toBe(false);
    await expect(session.branches.leave("nowhere1")).rejects.toThrow("no entry nowhere1");
    expect([session.leafId, project.lines().length]).toEqual(before);
  });

  test("fails when the conversation continued in the meantime", async () => {
    const { project, session } = await branched();
    project.play({ text: "four" });
    const leaving = session.branches.leave(null);
    await say(session, "fourth");
    const leaf = session.leafId;
    await expect(leaving).rejects.toThrow("continued in the meantime");
    expect(session.leafId).toBe(leaf);
  });

  test("makes the summary by program where no model gives one, and says so", async () => {
    const project = await createSessionProject({ text: "one" });
    const session = project.manager({
      context: {
        summarizer: async () => ({
          model: project.model,
          streamFunction: project.playing({ text: "no summary" }, { text: "no summary either" }),
        }),
      },
    });
    await say(session, "mend the parser");
    const events: AgentEvent[] = [];
    await session.branches.leave(null, { emit: (event) => events.push(event) });
    expect(events).toContainEqual(
      expect.objectContaining({ type: "notice", code: "branch_summary_fallback" }),
    );
    expect(project.lines().at(-1)).toMatchObject({
      type: "branch_summary",
      summary: expect.stringContaining("mend the parser"),
    });
  });
});

test("entry ids that two processes drew alike stay two entries", () => {
  const entries = [...chain(2), entry(entryId(1), entryId(0), "again")];
  expect(buildSessionTree(entries).map(outline)).toEqual([[entryId(0), [entryId(1)], [entryId(1)]]]);
});
