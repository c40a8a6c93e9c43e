import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CODEX_ID, writeCodex } from "../../../core/test/support/foreign-fixtures.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { savedMessages, sessionIds, writeSession } from "../support/session-files.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const OWN = "20260101000000-aaaaaa";

test.concurrent("/history with words finds sessions of other agents, and continues one with a summary", async () => {
  const place = createTemporaryProject();
  writeCodex(place);
  await using session = new ScreenSession({ place, turns: ["Continued."] });
  await session.opened();
  await session.say("/history screenshot");
  await session.shows("Why does the parser fail?");
  session.press("enter");
  await session.shows("Continue here");
  session.press("enter");
  await session.shows("New session started.");
  await session.say("and now");
  await session.shows("Continued.");
  await session.quit();
  expect(sessionIds(place)).toHaveLength(1);
  const [first, second] = savedMessages(place);
  const told = JSON.stringify(first);
  for (const text of [`codex:${CODEX_ID}`, "We fixed the parser so far.", "- See the screenshot"])
    expect(told).toContain(text);
  expect(second).toMatchObject({ role: "user", content: "and now" });
  place.remove();
});

test.concurrent("/history with words resumes and exports a session of this project, and says if nothing is found", async () => {
  const place = createTemporaryProject();
  writeSession(place, {
    id: OWN,
    modified: "2026-01-01T12:00:00.000Z",
    texts: ["where is the Needle?", "in the haystack"],
  });
  await using session = new ScreenSession({ place, turns: ["unused"] });
  await session.opened();
  await session.say("/history unheard-of");
  await session.shows("Nothing found.");
  await session.say("/history haystack");
  await session.shows("where is the Needle?");
  session.press("enter");
  await session.shows("Export");
  session.press("down", "down", "down", "enter");
  await session.shows("Exported to");
  expect(readFileSync(join(place.project, `diligent-${OWN}.md`), "utf8")).toContain("in the haystack");
  await session.say("/history haystack");
  await session.shows("where is the Needle?");
  session.press("enter");
  await session.shows("Continue here");
  session.press("enter");
  await session.shows("in the haystack");
  await session.quit();
  expect(sessionIds(place)).toEqual([OWN]);
  place.remove();
});
