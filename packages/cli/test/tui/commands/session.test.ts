import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { entryTypes, said, savedMessages, sessionIds, writeSession } from "../../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, type TypedOptions, writeScript } from "../../support/typed-commands.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
  writeScript(place, "one", "two", "three", "four");
});

afterEach(async () => {
  await program?.close();
  place.remove();
});

async function start(options?: TypedOptions): Promise<TypedCommands> {
  program = await new TypedCommands(place, options).open();
  return program;
}

const idOf = async (typed: TypedCommands) => (await typed.holder.session).session.sessionId;

describe("/new", () => {
  test("starts another session, and the previous one can be resumed", async () => {
    const typed = await start();
    await typed.say("first");
    const before = await idOf(typed);
    typed.take();
    await typed.run("/clear");
    expect(typed.take()).toEqual(["New session started. The previous one is saved; /resume reopens it."]);
    expect(typed.view.status).toMatchObject({ sessionTokens: 0, contextTokens: 0 });
    await typed.say("again");
    expect(sessionIds(place)).toHaveLength(2);
    typed.take();
    await typed.run(`/resume ${before}`);
    expect(typed.take("prompt", "answer")).toEqual(["first", "one"]);
  });

  test("is a new session even if the last one is resumed automatically", async () => {
    place.write("diligent.jsonc", { session: { autoResume: true } });
    writeSession(place, {
      id: "20260101000000-aaaaaa",
      modified: "2026-01-01T00:00:00Z",
      texts: ["old", "answer"],
    });
    const typed = await start();
    expect(await idOf(typed)).toBe("20260101000000-aaaaaa");
    await typed.run("/new");
    expect(await idOf(typed)).not.toBe("20260101000000-aaaaaa");
  });

  test("promises nothing about a session that is not saved", async () => {
    const typed = await start({ options: { isSaved: false } });
    await typed.say("first");
    typed.take();
    await typed.run("/new");
    expect(typed.take()).toEqual(["New session started."]);
  });
});

describe("/resume", () => {
  test("shows the last three turns and how many messages are above", async () => {
    const texts = Array.from({ length: 10 }, (_, index) => `text ${index}`);
    writeSession(place, { id: "20260101000000-aaaaaa", modified: "2026-01-01T00:00:00Z", texts });
    const typed = await start();
    await typed.run("/resume 1");
    expect(typed.take("resumed", "prompt", "answer")).toEqual(["4 above", ...texts.slice(4)]);
    // Two tokens cannot be the size of a whole request, whatever the file says.
    const { contextTokens, isContextEstimated, sessionTokens } = typed.view.status;
    expect({ isContextEstimated, sessionTokens }).toEqual({ isContextEstimated: true, sessionTokens: 10 });
    expect(contextTokens).toBeGreaterThan(500);
  });

  test("says on one line that there is no such session, and the current one stays open", async () => {
    const typed = await start();
    await typed.say("first");
    typed.take();
    await typed.run("/resume 20990101");
    expect(typed.take()).toEqual([expect.stringMatching(/^error: no session 20990101; there are: /)]);
    await typed.say("second");
    expect(said(savedMessages(place))).toEqual([
      "user: first",
      "assistant: one",
      "user: second",
      "assistant: two",
    ]);
  });

  test("keeps the chosen approval mode, and not the model", async () => {
    writeSession(place, {
      id: "20260101000000-aaaaaa",
      modified: "2026-01-01T00:00:00Z",
      texts: ["old", "answer"],
    });
    writeScript({ ...place, write: (_, content) => place.write("other.json", content) }, "other");
    const typed = await start();
    await typed.context.nextApprovalMode();
    await typed.settle();
    await typed.run("/model scripted/other.json");
    await typed.run("/resume 20260101");
    expect(typed.view.status).toMatchObject({ approvalMode: "accept-edits", model: "scripted/script.json" });
  });

  test("says so if there is nothing to resume", async () => {
    const typed = await start();
    await typed.run("/resume");
    expect(typed.take()).toEqual(["No sessions in this project yet."]);
  });
});

describe("/fork", () => {
  test("continues in a copy, and the original session stays unchanged", async () => {
    const typed = await start();
    await typed.say("first");
    const before = await idOf(typed);
    typed.take();
    await typed.run("/fork");
    const after = await idOf(typed);
    expect(typed.take()).toEqual([`Forked ${before}; continuing in ${after}.`]);
    await typed.say("second");
    expect(said(savedMessages(place, before))).toEqual(["user: first", "assistant: one"]);
    expect(said(savedMessages(place, after))).toEqual([
      "user: first",
      "assistant: one",
      "user: second",
      "assistant: two",
    ]);
  });

  test("copies the current position of the conversation, even if nothing was said there yet", async () => {
    const typed = await start();
    await typed.say("first");
    await typed.say("second");
    const { session } = await typed.holder.session;
    await typed.context.branch(session.branches.path[1]?.id ?? null, { isSummarized: false });
    await typed.run("/fork");
    expect(said(savedMessages(place, await idOf(typed)))).toEqual(["user: first", "assistant: one"]);
  });

  test("works without a file too", async () => {
    const typed = await start({ options: { isSaved: false } });
    await typed.say("first");
    await typed.run("/fork");
    await typed.say("second");
    const { session } = await typed.holder.session;
    expect(session.context.messages).toHaveLength(4);
    expect(existsSync(join(place.project, ".diligent"))).toBe(false);
  });

  test("copies nothing if there are no messages", async () => {
    const typed = await start();
    await typed.run("/fork");
    expect(typed.take()).toEqual(["No messages yet."]);
  });
});

describe("/reload", () => {
  test("reloads configuration and instructions, and the same conversation continues in the same file", async () => {
    const typed = await start();
    await typed.say("first");
    place.write("AGENTS.md", "Answer in Latin.");
    place.write("diligent.jsonc", { approval: "deny" });
    typed.take();
    await typed.run("/reload");
    expect(typed.take()).toEqual([
      "Configuration, instructions, keys and knowledge reloaded. The conversation is unchanged.",
    ]);
    expect(typed.view.status.approvalMode).toBe("deny");
    const { promptParts } = await typed.holder.session;
    expect(promptParts().instructions).toMatchObject([{ content: "Answer in Latin." }]);
    await typed.say("second");
    expect(entryTypes(place)).toEqual(["session", "message", "message", "message", "message"]);
    expect(
      readdirSync(join(place.project, ".diligent", "sessions")).filter((name) => name.endsWith(".jsonl")),
    ).toHaveLength(1);
    expect(typed.take("notice")).toEqual([]);
  });

  test("keeps model, position in the tree, grants and choices", async () => {
    writeScript({ ...place, write: (_, content) => place.write("other.json", content) }, "a", "b", "c");
    const typed = await start();
    await typed.say("first");
    await typed.say("second");
    await typed.run("/model scripted/other.json");
    await typed.run("/thinking low");
    await typed.context.nextApprovalMode();
    await typed.settle();
    const before = await typed.holder.session;
    await before.grants.addForSession([{ kind: "command", directory: "/x", words: ["ls"] }]);
    await typed.context.branch(before.session.branches.path[1]?.id ?? null, { isSummarized: false });
    await typed.run("/reload");
    const after = await typed.holder.session;
    expect(after).not.toBe(before);
    expect(typed.view.status).toMatchObject({
      model: "scripted/other.json",
      effort: "low",
      approvalMode: "accept-edits",
    });
    expect(await after.grants.list()).toHaveLength(1);
    expect(after.session.branches.path).toHaveLength(2);
  });

  test("reports a broken configuration and keeps the session as it was", async () => {
    const typed = await start();
    await typed.say("first");
    place.write("diligent.jsonc", '{ "maxTurns": "x" }');
    typed.take();
    await typed.run("/reload");
    expect(typed.take()).toEqual([expect.stringMatching(/^error: .*maxTurns/)]);
    await typed.say("second");
    expect(typed.take("answer")).toEqual(["two"]);
  });

  test("works for a session that is not saved", async () => {
    const typed = await start({ options: { isSaved: false } });
    await typed.say("first");
    await typed.run("/reload");
    await typed.say("second");
    const { session } = await typed.holder.session;
    expect(session.context.messages).toHaveLength(4);
  });
});

describe("/name", () => {
  test("names the session for lists, and shows the name", async () => {
    const typed = await start();
    await typed.say("first");
    typed.take();
    await typed.run("/name");
    await typed.run("/rename  my\n work ");
    await typed.run("/name");
    expect(typed.take()).toEqual([
      "This session has no name; /name TEXT gives it one.",
      "Session renamed to my work.",
      "Session name: my work",
    ]);
    const [info] = await (await typed.holder.session).session.list();
    expect(info?.name).toBe("my work");
  });
});
