import { expect, test } from "bun:test";
import { ScreenSession } from "../support/screen-session.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

test("a screen whose session cannot be saved says so once and still works", async () => {
  const place = createTemporaryProject();
  place.write(".diligent", "a file");
  await using session = new ScreenSession({ place, turns: ["Here I am.", "And again."] });
  await session.opened();
  await session.say("are you there");
  await session.shows("Here I am.");
  await session.say("still");
  await session.shows("And again.");
  const shown = await session.quit();
  expect(shown.match(/This session is not saved/g)).toHaveLength(1);
  place.remove();
});
