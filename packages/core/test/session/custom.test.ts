import { describe, expect, test } from "bun:test";
import { readCustomEntries } from "../../src/session/log.ts";
import { readSessionFile } from "../../src/session/read-file.ts";
import { findLeafId } from "../../src/session/tree.ts";
import { user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";

async function sessionWithAnswer() {
  const project = await createSessionProject({ text: "one" }, { text: "two" });
  const session = project.manager();
  await session.run(user("first")).result();
  return { project, session };
}

describe("appendCustom()", () => {
  test("keeps data in the file at once, for a session that is resumed", async () => {
    const { project, session } = await sessionWithAnswer();
    const id = session.appendCustom("mine.state", { count: 1, none: undefined });
    session.appendCustom("yours", [1]);
    expect(project.lines().slice(-2)).toMatchObject([
      { type: "custom", id, customType: "mine.state", data: { count: 1 } },
      { type: "custom", customType: "yours", data: [1] },
    ]);
    session.close();
    const resumed = project.manager();
    await resumed.resume({ mostRecent: true });
    expect(resumed.customEntries("mine.state").map(({ data }) => data)).toEqual([{ count: 1 }]);
    expect(resumed.customEntries().map(({ customType }) => customType)).toEqual(["mine.state", "yours"]);
  });

  test("leaves the conversation where it is: the next prompt follows the last message", async () => {
    const { project, session } = await sessionWithAnswer();
    const leaf = session.leafId;
    session.appendCustom("mine", 1);
    expect(session.leafId).toBe(leaf);
    await session.run(user("second")).result();
    expect(project.requests.at(-1)?.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const file = readSessionFile(session.sessionPath ?? "");
    expect([findLeafId(file.entries), readCustomEntries(file.entries, "mine").length]).toEqual([
      session.leafId,
      1,
    ]);
  });

  test("belongs to its branch, and is copied with it", async () => {
    const { project, session } = await sessionWithAnswer();
    const leaf = session.leafId ?? "";
    session.appendCustom("mine", "kept");
    await session.run(user("second")).result();
    session.appendCustom("mine", "left");
    session.branch(leaf);
    expect(session.customEntries("mine").map(({ data }) => data)).toEqual(["kept"]);
    session.close();
    const resumed = project.manager();
    await resumed.resume({ mostRecent: true });
    resumed.branch(leaf);
    const copy = await resumed.fork();
    expect(copy.customEntries("mine").map(({ data }) => data)).toEqual(["kept"]);
    expect(readCustomEntries(readSessionFile(copy.sessionPath ?? "").entries)).toHaveLength(1);
  });

  test.each([
    ["a function", () => {}, "function"],
    ["nothing", undefined, "undefined"],
    ["a number that JSON has not", 1n, "BigInt"],
  ])("refuses %s and writes nothing", async (_, data, reason) => {
    const { project, session } = await sessionWithAnswer();
    const before = project.lines().length;
    expect(() => session.appendCustom("mine", data)).toThrow(reason);
    expect(() => session.appendCustom(" ", 1)).toThrow("needs a type");
    expect(project.lines()).toHaveLength(before);
  });
});
