import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { sessionIds, writeSession } from "../../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../../support/typed-commands.ts";

const OLD = "20260101000000-aaaaaa";
const ZED = "20260102000000-bbbbbb";

let place: TemporaryProject;
let typed: TypedCommands;

beforeEach(async () => {
  place = createTemporaryProject();
  writeScript(place, "one", "two", "three");
  writeSession(place, {
    id: OLD,
    modified: "2026-01-01T00:00:00Z",
    texts: ["old one", "the Needle is here"],
  });
  writeSession(place, {
    id: ZED,
    modified: "2026-01-02T00:00:00Z",
    texts: ["zebra", "x".repeat(9_000)],
    name: "Zed",
  });
  typed = await new TypedCommands(place).open();
  await typed.say("middle");
  typed.take();
  await typed.run("/resume");
  await typed.settle();
});

afterEach(async () => {
  await typed.close();
  place.remove();
});

describe("the list of sessions", () => {
  test("shows the most recently changed first, with the current one marked, and age, length and size", () => {
    expect(typed.items).toEqual([">● middle", " Zed", " old one"]);
    const [current, zed] = typed.dialog?.items ?? [];
    expect(current?.detail).toMatch(/^just now, 2 messages, \d+ (?:bytes|KB)$/);
    expect(zed?.detail).toMatch(/^\d+ months ago, 2 messages, 9 KB$/);
  });

  test("finds messages anywhere in a session, names and ids", async () => {
    await typed.press("needle");
    expect(typed.items).toEqual([">old one"]);
    await typed.press("ctrl+u", "zed");
    expect(typed.items).toEqual([">Zed"]);
    await typed.press("ctrl+u", "20260101");
    expect(typed.items).toEqual([">old one"]);
    await typed.press("ctrl+u", "nowhere");
    expect(typed.items).toEqual([]);
  });

  test("can be sorted by size, by name and by time again", async () => {
    await typed.press("ctrl+s");
    expect([typed.dialog?.title, ...typed.items]).toEqual([
      "Sessions by size",
      ">Zed",
      " ● middle",
      " old one",
    ]);
    await typed.press("ctrl+s");
    expect([typed.dialog?.title, ...typed.items]).toEqual([
      "Sessions by name",
      ">● middle",
      " old one",
      " Zed",
    ]);
    await typed.press("ctrl+s");
    expect([typed.dialog?.title, ...typed.items]).toEqual(["Sessions", ">● middle", " Zed", " old one"]);
  });

  test("continues the chosen session; choosing the current one changes nothing", async () => {
    await typed.press("needle", "enter");
    await typed.settle();
    expect((await typed.holder.session).session.sessionId).toBe(OLD);
    expect(typed.take("prompt", "answer")).toEqual(["old one", "the Needle is here"]);
    await typed.run("/resume");
    await typed.press("old", "enter");
    expect(typed.take()).toEqual([]);
    expect(typed.dialog).toBeUndefined();
  });

  test("shows the branches of another session, to continue from any of them", async () => {
    await typed.press("needle", "ctrl+b");
    await typed.settle();
    expect((await typed.holder.session).session.sessionId).toBe(OLD);
    expect(typed.dialog).toMatchObject({ type: "picker", name: "tree" });
  });

  test("names a session, even the current one, and removes a name", async () => {
    await typed.press("ctrl+r", "Mid", " ", "dle!", "backspace", "enter");
    await typed.press("down", "ctrl+r");
    expect(typed.dialog?.input).toEqual({ label: "New name", text: "Zed" });
    await typed.press("ctrl+u", "enter");
    expect(typed.items).toEqual([" ● Mid dle", ">zebra", " old one"]);
    await typed.say("more");
    const listed = await (await typed.holder.session).session.list();
    expect(listed.map(({ name, messageCount }) => [name, messageCount])).toEqual([
      ["Mid dle", 4],
      [undefined, 2],
      [undefined, 2],
    ]);
  });

  test("keeps the old name if it is left while a name is typed", async () => {
    await typed.press("down", "ctrl+r", "x", "escape");
    expect(typed.items).toEqual([" ● middle", ">Zed", " old one"]);
    await typed.press("escape");
    expect(typed.dialog).toBeUndefined();
  });

  test("deletes a session after a confirmation, but never the current one", async () => {
    await typed.press("ctrl+d");
    expect(typed.dialog?.question).toBeUndefined();
    expect(typed.view.hint).toBe("Cannot delete the open session");
    await typed.press("down", "ctrl+d");
    expect(typed.dialog?.question).toBe("Permanently delete “Zed” (2 messages)?");
    await typed.press("escape");
    expect(typed.items).toHaveLength(3);
    await typed.press("ctrl+d", "y");
    expect(typed.items).toEqual([" ● middle", ">old one"]);
    expect(sessionIds(place)).not.toContain(ZED);
  });

  test("reports a failure and stays open", async () => {
    const file = join(place.project, ".diligent", "sessions", `${ZED}.jsonl`);
    await typed.press("down");
    // Root may write anywhere, so the file is replaced by something that cannot be written.
    place.write(`.diligent/sessions/${ZED}.jsonl`, "no session at all");
    chmodSync(file, 0o600);
    await typed.press("ctrl+r", "!", "enter");
    expect(typed.take("notice")).toEqual([expect.stringMatching(/^error: .*is not a session file/)]);
    expect(typed.items).toHaveLength(3);
  });
});
