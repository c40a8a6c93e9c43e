import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeUserConfig } from "../support/compatible-service.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { said, savedMessages, sessionIds, writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const OLD = "20260101000000-aaaaaa";
const PUT_AWAY = "20260102000000-bbbbbb";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  writeUserConfig(place, { sandbox: "off" });
  place.write("script.json", { version: 1, turns: [{ text: "one" }, { text: "second answer" }] });
});

afterEach(() => place.remove());

function writeOld(): void {
  writeSession(place, { id: OLD, modified: "2026-01-01T12:00:00.000Z", texts: ["old prompt", "old answer"] });
}

test("--resume without REF lists the sessions, and the prompt is sent once one is chosen", async () => {
  writeOld();
  const path = writeSession(place, {
    id: PUT_AWAY,
    modified: "2026-01-02T12:00:00.000Z",
    texts: ["put away", "one"],
  });
  const archive = { type: "archive", id: "0000000a", parentId: "00000001", timestamp: "", archived: true };
  await Bun.write(path, `${await Bun.file(path).text()}${JSON.stringify(archive)}\n`);
  await using session = new ScreenSession({ place, args: ["-r", "and now"] });
  await session.shows("› old prompt");
  expect(await session.screen()).not.toContain("put away");
  session.press("enter");
  await session.shows("second answer");
  await session.rests();
  expect(said(savedMessages(place, OLD)).slice(2)).toEqual(["user: and now", "assistant: second answer"]);
  await session.quit();
  expect(sessionIds(place)).toEqual([OLD, PUT_AWAY]);
});

test("the list searches the messages of the only session of a project", async () => {
  writeOld();
  await using session = new ScreenSession({ place, args: ["--resume"] });
  await session.shows("› old prompt");
  session.program.send("answer");
  await session.shows(/answer.*\n[\s\S]*› old prompt/);
  session.program.send("nowhere");
  await session.program.waitUntil((rows) => !rows.some((row) => row.includes("old prompt")));
  session.press("escape");
  await session.opened();
});

test("a list closed without a choice leaves the prompt in the editor, unsent", async () => {
  writeOld();
  await using session = new ScreenSession({ place, args: ["-r", "and now"] });
  await session.shows("› old prompt");
  session.press("escape");
  await session.shows("> and now");
  expect(said(savedMessages(place, OLD))).toHaveLength(2);
});

test("--resume without any session says so and starts a new one with the prompt", async () => {
  await using session = new ScreenSession({ place, args: ["-r", "first words"] });
  await session.shows("No sessions in this project yet.");
  await session.shows("one");
  await session.rests();
  expect(said(savedMessages(place))[0]).toBe("user: first words");
});

test("--resume at the line prompt numbers the sessions, and the prompt is not sent before a choice", async () => {
  writeOld();
  await using session = new ScreenSession({ place, args: ["--plain-ui", "-r", "and now"] });
  await session.shows("Not sent yet, choose a session first: and now");
  await session.shows("1. old prompt");
  session.program.send("/resume 1\r");
  await session.shows("Resuming session");
  expect(said(savedMessages(place, OLD))).toHaveLength(2);
});
