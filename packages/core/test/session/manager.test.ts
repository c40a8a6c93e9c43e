import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "../../src/agent/types.ts";
import type { Message } from "../../src/types.ts";
import { user } from "../support/agent-run.ts";
import { createSessionProject, note, type SessionProject } from "../support/session-project.ts";

const rolesOf = (lines: readonly Record<string, unknown>[]) =>
  lines.map(({ type, message }) => (isMessage(message) ? message.role : type));

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "role" in value;
}

const fileOf = ({ paths }: SessionProject, id: string) => join(paths.sessions, `${id}.jsonl`);

describe("a session file", () => {
  test("holds a header and a chain of messages, and is the user's alone", async () => {
    const project = await createSessionProject(note("a"), { text: "Done." });
    const session = project.manager();
    await session.run(user("go")).result();
    session.close();
    const [header, ...entries] = project.lines();
    expect(header).toEqual({
      type: "session",
      version: 2,
      id: session.sessionId,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      cwd: project.project,
    });
    expect(rolesOf(entries)).toEqual(["user", "assistant", "tool_result", "assistant"]);
    expect(entries.map(({ parentId }) => parentId)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ id }) => id),
    ]);
    expect(entries.filter(({ id }) => !/^[0-9a-f]{8}$/.test(String(id)))).toEqual([]);
    expect(statSync(fileOf(project, session.sessionId)).mode & 0o777).toBe(0o600);
  });

  test("appears with the first answer, and has each message before the event that shows it", async () => {
    const project = await createSessionProject(note("a"), { text: "Done." });
    const session = project.manager();
    const file = fileOf(project, session.sessionId);
    const counts: [string, number][] = [];
    await session.run(user("go")).consume((event: AgentEvent) => {
      if (event.type === "turn_start" || event.type === "message_end" || event.type === "tool_end") {
        counts.push([event.type, existsSync(file) ? project.lines().length : 0]);
      }
    });
    expect(counts).toEqual([
      ["turn_start", 0],
      ["message_end", 3],
      ["tool_end", 4],
      ["turn_start", 4],
      ["message_end", 5],
    ]);
  });

  test("a session without an answer leaves none behind, unless it is flushed or its run ends", async () => {
    const project = await createSessionProject({ delayMs: 60_000, text: "late" });
    const session = project.manager();
    session.flush();
    const abort = new AbortController();
    const run = session.run(user("go"), { signal: abort.signal });
    expect([readdirSync(project.paths.sessions), session.sessionPath]).toEqual([[".gitignore"], undefined]);
    session.flush();
    expect(rolesOf(project.lines())).toEqual(["session", "user"]);
    expect(session.sessionPath).toBe(fileOf(project, session.sessionId));
    abort.abort();
    await run.result();
    expect(rolesOf(project.lines())).toEqual(["session", "user"]);
  });

  test.each([{ paths: undefined }, { isSaved: false }])("none is written with %p", async (options) => {
    const project = await createSessionProject({ text: "Done." });
    const session = project.manager(options);
    await session.run(user("go")).result();
    session.close();
    expect([readdirSync(project.paths.sessions), session.sessionPath]).toEqual([[".gitignore"], undefined]);
  });

  test("if it cannot be written, this is reported once, the run continues, and everything is saved later", async () => {
    const project = await createSessionProject(note("a"), { text: "Done." }, { text: "Again." });
    const { sessions } = project.paths;
    rmSync(sessions, { recursive: true });
    writeFileSync(sessions, "in the way");
    const session = project.manager();
    const notices: string[] = [];
    await session.run(user("go")).consume((event) => {
      if (event.type === "notice") notices.push(`${event.code}: ${event.message}`);
    });
    expect(notices).toEqual([
      expect.stringMatching(
        /^not_saved: This session is not being saved: .*sessions.* a part of its path is a file/,
      ),
    ]);
    rmSync(sessions);
    await session.run(user("again")).result();
    expect(rolesOf(project.lines())).toEqual([
      "session",
      ...["user", "assistant", "tool_result", "assistant", "user", "assistant"],
    ]);
  });

  test("when all of .diligent is removed in mid-session it is made again, with everything in it", async () => {
    const project = await createSessionProject({ text: "a" }, { text: "b" });
    const session = project.manager();
    await session.run(user("one")).result();
    rmSync(project.paths.root, { recursive: true });
    const notices: string[] = [];
    await session.run(user("two")).consume((event) => {
      if (event.type === "notice") notices.push(event.code);
    });
    expect([rolesOf(project.lines()), notices]).toEqual([
      ["session", "user", "assistant", "user", "assistant"],
      ["restored_session"],
    ]);
    expect(existsSync(join(project.paths.root, ".gitignore"))).toBe(true);
  });
});

describe("a run", () => {
  test("is sent with everything that was said before", async () => {
    const project = await createSessionProject({ text: "One." }, { text: "Two." });
    const session = project.manager();
    await session.run(user("first")).result();
    const added = await session.run(user("second")).result();
    expect(added).toMatchObject([{ content: [{ type: "text", text: "Two." }] }]);
    expect(project.requests.map((messages) => messages.length)).toEqual([1, 3]);
  });

  test("repeats the earlier requests verbatim, so that caches hit", async () => {
    const project = await createSessionProject(note("a", "b"), { text: "One." }, note("c"), { text: "Two." });
    const session = project.manager();
    await session.run(user("first")).result();
    await session.run(user("second")).result();
    const [, ...later] = project.requests;
    for (const [index, messages] of later.entries()) {
      const before = project.requests[index] ?? [];
      expect(messages.slice(0, before.length)).toEqual([...before]);
    }
  });

  test("what is steered in joins the conversation and the file", async () => {
    const project = await createSessionProject(note("a"), { text: "Done." });
    const session = project.manager();
    await session.run(user("go")).consume((event) => {
      if (event.type === "tool_start") session.steer("rather b");
    });
    expect(rolesOf(project.lines())).toEqual([
      "session",
      "user",
      "assistant",
      "tool_result",
      "user",
      "assistant",
    ]);
  });

  test("what is said too late for a run that is stopped is kept, told, and begins the next one", async () => {
    const project = await createSessionProject(note("a"), { text: "Done." });
    const session = project.manager();
    const abort = new AbortController();
    const steered: string[] = [];
    const ids: (string | undefined)[] = [];
    const added = await session.run(user("go"), { signal: abort.signal }).consume((event) => {
      if (event.type === "tool_start") {
        ids.push(session.steer("rather b"));
        abort.abort();
      }
      if (event.type === "steering") steered.push(event.text);
      if (event.type === "steering") ids.push(event.id);
    });
    expect(ids[1]).toBe(ids[0]);
    expect(rolesOf(project.lines())).toEqual(["session", "user", "assistant", "tool_result", "user"]);
    expect([steered, added.at(-1)]).toEqual([["rather b"], expect.objectContaining({ content: "rather b" })]);
    await session.run(user("and c")).result();
    expect(project.requests.at(-1)?.slice(3)).toMatchObject([{ content: "rather b" }, { content: "and c" }]);
  });
});
