import { expect, test } from "bun:test";
import { ScreenSession } from "../support/screen-session.ts";
import { savedMessages } from "../support/session-files.ts";

const QUESTIONS = [
  { header: "Color", question: "Which color?", options: [{ label: "red" }, { label: "blue" }] },
  { question: "Which checks?", options: [{ label: "lint" }, { label: "tests" }], multiSelect: true },
  { question: "Which name?", options: [] },
];
const TURNS = [{ toolCalls: [{ name: "ask_user", input: { questions: QUESTIONS } }] }, "Thanks."];

const answerOf = (session: ScreenSession) =>
  savedMessages(session.place).find(({ role }) => role === "tool_result");

test.concurrent("the model's questions are lists, and own text answers them too", async () => {
  await using session = new ScreenSession({ turns: TURNS });
  await session.opened();
  await session.say("go");
  await session.shows("Color: Which color?");
  await session.shows("Other…");
  await Bun.sleep(GUARD_MS);
  session.press("down");
  session.press("enter");
  await session.shows("[ ] lint");
  await Bun.sleep(GUARD_MS);
  session.press("enter");
  await session.shows("[x] lint");
  session.press("down", "down", "down");
  await session.shows("4/4");
  session.press("enter");
  await session.shows("Your answer");
  session.program.send("mine");
  await session.shows("mine");
  session.press("enter");
  await session.shows("Thanks.");
  expect(answerOf(session)).toMatchObject({
    output: "Which color?\n→ blue\nWhich checks?\n→ lint\nWhich name?\n→ mine",
    isError: false,
  });
});

test.concurrent("Esc leaves the model's question without an answer, and the run continues", async () => {
  await using session = new ScreenSession({ turns: TURNS });
  await session.opened();
  await session.say("go");
  await session.shows("Other…");
  session.press("escape");
  await session.shows("Thanks.");
  expect(answerOf(session)).toMatchObject({ isError: false });
});

// Keys before this were meant for the prompt.
const GUARD_MS = 450;
