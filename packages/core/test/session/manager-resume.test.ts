import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "../../src/agent/types.ts";
import { SessionFileError } from "../../src/session/read-file.ts";
import { type Message, messageText, type UserMessage } from "../../src/types.ts";
import { user } from "../support/agent-run.ts";
import { chain, header, toLines } from "../support/session-files.ts";
import { createSessionProject, note } from "../support/session-project.ts";

/** What was said, in short. */
function said(messages: readonly Message[]): string[] {
  return messages.map((message) =>
    message.role === "tool_result" ? message.output : messageText(message) || "(calls)",
  );
}

async function noticesOf(stream: AsyncIterable<AgentEvent>): Promise<string[]> {
  const codes: string[] = [];
  for await (const event of stream) if (event.type === "notice") codes.push(event.code);
  return codes;
}

describe("resuming", () => {
  test("a session that was run, saved and resumed is sent on with its whole history", async () => {
    const project = await createSessionProject(note("a"), { text: "Done." });
    const first = project.manager();
    await first.run(user("go")).result();
    first.close();
    const second = project.manager();
    expect(await second.resume({ mostRecent: true })).toBe(true);
    expect([second.sessionId, second.context]).toEqual([first.sessionId, first.context]);
    project.play({ text: "More." });
    await second.run(user("again")).result();
    expect(said(project.requests.at(-1) ?? [])).toEqual(["go", "(calls)", "noted a", "Done.", "again"]);
    const [head, ...entries] = project.lines();
    expect(head).toMatchObject({ type: "session", id: first.sessionId });
    expect(entries.map(({ parentId }) => parentId)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ id }) => id),
    ]);
  });

  test("by id finds that one, and without one the session that was changed last", async () => {
    const project = await createSessionProject();
    const ids: string[] = [];
    for (const text of ["one", "two"]) {
      const session = project.manager();
      project.play({ text });
      await session.run(user(text)).result();
      ids.push(session.sessionId);
      await Bun.sleep(2);
    }
    const manager = project.manager();
    expect(await manager.resume({ sessionId: ids[0] })).toBe(true);
    expect(said(manager.context.messages)).toEqual(["one", "one"]);
    expect(await manager.resume({ mostRecent: true })).toBe(true);
    expect(manager.sessionId).toBe(ids[1] ?? "");
    expect((await manager.list()).map(({ id }) => id)).toEqual(ids.toReversed());
  });

  test.each([{ sessionId: "20200101000000-000000" }, { sessionId: "../x" }, { mostRecent: true }, {}])(
    "what is not there is false and changes nothing: %p",
    async (options) => {
      const manager = (await createSessionProject()).manager();
      const before = manager.sessionId;
      expect(await manager.resume(options)).toBe(false);
      expect(manager.sessionId).toBe(before);
    },
  );

  test("a session of a newer version is refused by name and is not the most recent one", async () => {
    const { paths, manager } = await createSessionProject();
    const path = join(paths.sessions, "20300101000000-abcdef.jsonl");
    writeFileSync(path, toLines([header({ version: 9 }), ...chain(2)]));
    const before = readFileSync(path);
    await expect(manager().resume({ sessionId: "20300101000000-abcdef" })).rejects.toThrow(SessionFileError);
    expect(await manager().resume({ mostRecent: true })).toBe(false);
    expect(readFileSync(path)).toEqual(before);
  });

  test("damaged lines are told once, in the next run, and the file stays as it is", async () => {
    const project = await createSessionProject({ text: "a" }, { text: "b" });
    const path = join(project.paths.sessions, `${header().id}.jsonl`);
    const damaged = `${toLines([header(), ...chain(2)])}{"type":"mess\n`;
    writeFileSync(path, damaged);
    const manager = project.manager();
    await manager.resume({ mostRecent: true });
    expect(await noticesOf(manager.run(user("go")))).toEqual(["damaged_lines"]);
    expect(await noticesOf(manager.run(user("on")))).toEqual([]);
    expect(readFileSync(path, "utf8").startsWith(damaged)).toBe(true);
    expect(said(manager.context.messages)).toEqual(["question 0", "answer 1", "go", "a", "on", "b"]);
  });

  test("with another model notes the change, and only then", async () => {
    const project = await createSessionProject({ text: "a" });
    await project.manager().run(user("go")).result();
    for (const id of ["other", "other"]) {
      const manager = project.manager({ model: { id, provider: "anthropic" } });
      await manager.resume({ mostRecent: true });
      project.play({ text: "b" });
      await manager.run(user("on")).result();
      expect(manager.context.currentModel).toEqual({ provider: "anthropic", modelId: "other" });
    }
    expect(project.lines().map(({ type }) => type)).toEqual([
      "session",
      "message",
      "message",
      "model_change",
      ...Array.from({ length: 4 }, () => "message"),
    ]);
  });
});

describe("two managers of one session", () => {
  test("become two branches, both whole, and each is told once", async () => {
    const project = await createSessionProject({ text: "a" });
    await project.manager().run(user("go")).result();
    const managers = [project.manager(), project.manager()];
    const told: string[][] = [];
    for (const manager of managers) await manager.resume({ mostRecent: true });
    for (const round of ["1", "2"]) {
      for (const [index, manager] of managers.entries()) {
        project.play({ text: `answer ${index} ${round}` });
        told.push(await noticesOf(manager.run(user(`prompt ${index} ${round}`))));
      }
    }
    expect(told).toEqual([[], ["shared_session"], ["shared_session"], []]);
    const branch = (index: number) =>
      ["1", "2"].flatMap((round) => [`prompt ${index} ${round}`, `answer ${index} ${round}`]);
    for (const [index, { context }] of managers.entries())
      expect(said(context.messages)).toEqual(["go", "a", ...branch(index)]);
    const later = project.manager();
    await later.resume({ mostRecent: true });
    expect(said(later.context.messages)).toEqual(["go", "a", ...branch(1)]);
  });
});

describe("branches and forks", () => {
  test("from an earlier entry the next prompt grows a new branch, which is gone on with later", async () => {
    const project = await createSessionProject({ text: "a" }, { text: "b" }, { text: "c" });
    const manager = project.manager();
    await manager.run(user("one")).result();
    await manager.run(user("two")).result();
    const [, , answer] = project.lines();
    manager.branch(String(answer?.id));
    await manager.run(user("other")).result();
    expect(said(manager.context.messages)).toEqual(["one", "a", "other", "c"]);
    const later = project.manager();
    await later.resume({ mostRecent: true });
    expect(later.context).toEqual(manager.context);
    expect(project.lines().filter(({ type }) => type === "message")).toHaveLength(6);
  });

  test("from the beginning the next prompt is a first one", async () => {
    const project = await createSessionProject({ text: "a" }, { text: "b" });
    const manager = project.manager();
    await manager.run(user("one")).result();
    manager.branch(null);
    await manager.run(user("anew")).result();
    expect(said(manager.context.messages)).toEqual(["anew", "b"]);
    expect(() => manager.branch("nowhere1")).toThrow("no entry nowhere1");
  });

  test("a fork is a file of its own that names its parent and copies the conversation field by field", async () => {
    const project = await createSessionProject({ text: "more" });
    const path = join(project.paths.sessions, `${header().id}.jsonl`);
    const entries = chain(4).map((entry) => ({ ...entry, weight: 7 }));
    const odd = { type: "hologram", id: "0000000f", parentId: entries[3]?.id, timestamp: "t", data: [1] };
    const last = { ...chain(1)[0], id: "0000001f", parentId: "0000000f" };
    writeFileSync(path, toLines([header(), ...entries, odd, last]));
    const before = readFileSync(path);
    const manager = project.manager();
    await manager.resume({ mostRecent: true });
    const whole = await manager.fork();
    const part = await manager.fork(entries[1]?.id);
    await whole.run(user("on")).result();
    const [head, ...copies] = project.lines(whole.sessionId);
    expect(head).toMatchObject({ id: whole.sessionId, parentSession: header().id, cwd: project.project });
    expect(copies.slice(0, 6)).toEqual([...entries, odd, last]);
    // A change to the model it continues with, the prompt, the answer.
    expect(copies).toHaveLength(9);
    expect(project.lines(part.sessionId).slice(1)).toEqual(entries.slice(0, 2));
    expect(readFileSync(path)).toEqual(before);
    await expect(manager.fork("nowhere1")).rejects.toThrow("no entry nowhere1");
  });

  test("a name is for lists only, and a blank one takes it away", async () => {
    const project = await createSessionProject({ text: "a" }, { text: "b" });
    const manager = project.manager();
    await manager.run(user("one")).result();
    manager.rename("my work");
    expect((await manager.list()).map(({ name }) => name)).toEqual(["my work"]);
    manager.rename(" ");
    expect((await manager.list()).map(({ name }) => name)).toEqual([undefined]);
    await manager.run(user("two")).result();
    expect(said(manager.context.messages)).toEqual(["one", "a", "two", "b"]);
  });

  test("while a run is going on the session is neither exchanged nor moved", async () => {
    const manager = (await createSessionProject({ text: "a" })).manager();
    const run = manager.run(user("one"));
    const prompt: UserMessage = user("two");
    expect(() => manager.run(prompt)).toThrow("busy");
    expect(() => manager.branch(null)).toThrow("busy");
    await expect(manager.create()).rejects.toThrow("busy");
    await run.result();
    await manager.create();
    expect(manager.context).toEqual({ messages: [] });
  });
});
