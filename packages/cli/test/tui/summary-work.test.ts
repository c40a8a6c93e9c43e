import { afterEach, beforeEach, expect, test } from "bun:test";
import { said, savedMessages } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../support/typed-commands.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

test("a summary requested after a prompt, both while the session is being opened, is refused and the run continues", async () => {
  writeScript(place, { text: "The answer.", delayMs: 50 });
  const typed = new TypedCommands(place);
  const run = typed.say("one");
  await typed.run("/compact");
  expect(typed.take("notice")).toEqual(["error: Another task is already running."]);
  expect(typed.view.activity.type).not.toBe("idle");
  await run;
  await typed.close();
  expect(said(savedMessages(place))).toEqual(["user: one", "assistant: The answer."]);
});
