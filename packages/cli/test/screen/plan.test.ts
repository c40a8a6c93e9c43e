import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ScreenSession } from "../support/screen-session.ts";
import { savedMessages } from "../support/session-files.ts";

const PLAN = "I looked.\n\n## Plan\n\n1. Make a.txt";
const WRITE = { toolCalls: [{ name: "write", input: { file_path: "a.txt", content: "new\n" } }] };
const TURNS = [PLAN, WRITE, "All done."];

// Keys before this were meant for the prompt.
const GUARD_MS = 450;

const madeFile = (session: ScreenSession) => join(session.place.project, "a.txt");

test.concurrent("a plan is implemented in the mode that the user chooses, also by a session opened in plan mode", async () => {
  await using session = new ScreenSession({ turns: TURNS, args: ["--approval", "plan"] });
  await session.opened();
  await session.say("plan it");
  await session.shows("Implement in accept-edits");
  await Bun.sleep(GUARD_MS);
  session.press("enter");
  await session.shows("All done.");
  expect(readFileSync(madeFile(session), "utf8")).toBe("new\n");
  await session.shows("Mode accept-edits");
  expect(await session.screen()).not.toContain("/reload");
  const prompts = savedMessages(session.place).filter(({ role }) => role === "user");
  expect(prompts.slice(1).map(({ content }) => content)).toEqual([
    "Implement the plan.",
    expect.stringContaining("changed: Approval mode: accept-edits."),
  ]);
});

test.concurrent("“Keep planning” and Esc stay in plan mode, and the next prompt is refined in it", async () => {
  await using session = new ScreenSession({
    turns: [PLAN, PLAN, WRITE, "Refused."],
    args: ["--approval", "plan"],
  });
  await session.opened();
  await session.say("plan it");
  await session.shows("Keep planning");
  session.press("down", "down");
  await session.shows("3/3");
  session.press("enter");
  await session.shows("Type what the plan should change.");
  await session.say("shorter");
  await session.shows("Implement in accept-edits");
  session.press("escape");
  await session.program.waitUntil((rows) => !rows.some((row) => row.includes("Keep planning")));
  await session.say("do it");
  await session.shows("Refused.");
  expect(existsSync(madeFile(session))).toBe(false);
});

test.concurrent("an answer without a plan, and one outside plan mode, are followed by no list", async () => {
  await using session = new ScreenSession({
    turns: ["No plan needed.", PLAN, "End."],
    args: ["--approval", "plan"],
  });
  await session.opened();
  await session.say("what is it?");
  await session.shows("No plan needed.");
  session.press("shiftTab");
  await session.shows("Mode ask");
  await session.say("go");
  await session.shows("Make a.txt");
  await session.say("and now");
  await session.shows("End.");
  expect(await session.screen()).not.toContain("Implement");
});
