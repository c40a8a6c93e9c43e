import { expect, test } from "bun:test";
import { KEYS, lines, ScreenSession } from "../support/screen-session.ts";
import { savedMessages, sessionIds, writeSession } from "../support/session-files.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

test.concurrent("--continue resumes a session that was killed during an answer, without losing finished messages", async () => {
  const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
  await using killed = new ScreenSession({
    turns: [
      { text: "First I look.", toolCalls: [{ name: "bash", input: { command: "echo seen" } }] },
      { text, chunkDelayMs: 10 },
      "It is done.",
    ],
  });
  await killed.opened();
  await killed.say("look and tell");
  await killed.shows("word9");
  await killed.crash();
  await using next = new ScreenSession({ place: killed.place, args: ["--continue"] });
  await next.opened();
  await next.shows("First I look.");
  await next.looksLike(
    lines(
      "(resuming)",
      "",
      "> look and tell",
      "",
      "First I look.",
      "",
      "✓ bash echo seen",
      "  seen",
      "",
      ">",
      "(status)",
    ),
  );
  await next.say("go on");
  // The script counts replies: the one that was cut off is played again.
  await next.shows("word9");
  next.press("escape");
  await next.shows(/^interrupted/m);
  await next.quit();
  expect(sessionIds(killed.place)).toHaveLength(1);
  expect(savedMessages(killed.place).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool_result",
    "user",
    "assistant",
  ]);
});

test.concurrent("a session killed while a command ran tells the model that the outcome is unknown", async () => {
  await using killed = new ScreenSession({
    turns: [{ toolCalls: [{ name: "bash", input: { command: "sleep 5" } }] }, "I see."],
  });
  await killed.opened();
  await killed.say("wait");
  await killed.shows("Running bash");
  await killed.crash();
  await using next = new ScreenSession({ place: killed.place, args: ["--continue"] });
  await next.opened();
  await next.shows("✗ bash sleep 5");
  await next.say("go on");
  await next.shows("I see.");
  expect(await next.quit()).toBe(
    lines(
      "(resuming)",
      "",
      "> wait",
      "",
      "✗ bash sleep 5 · interrupted",
      "  No result saved: the session ended while this was running.",
      "",
      "> go on",
      "",
      "I see.",
      "",
      ">",
      "(status)",
    ),
  );
});

test.concurrent("resuming a long session shows its last turns and the number of messages above", async () => {
  const place = createTemporaryProject();
  writeSession(place, {
    id: "20260101000000",
    modified: "2026-01-01T00:00:00.000Z",
    texts: Array.from({ length: 40 }, (_, index) => `text ${index}`),
  });
  const config = { sandbox: "off" };
  await using session = new ScreenSession({ place, config, turns: [], args: ["--continue"] });
  await session.opened();
  await session.shows("text 39");
  await session.looksLike(
    lines(
      "(resuming)",
      "",
      "… 34 messages above; /tree or diligent sessions show",
      "",
      ...[34, 36, 38].flatMap((index) => [`> text ${index}`, "", `text ${index + 1}`, ""]),
      ">",
      "(status)",
    ),
  );
  await session.quit();
  place.remove();
});

test.concurrent("/resume finds a session by its messages and continues it", async () => {
  const place = createTemporaryProject();
  const modified = "2026-01-01T00:00:00.000Z";
  writeSession(place, { id: "20260101000000", modified, texts: ["about apples", "They are red."] });
  writeSession(place, { id: "20260102000000", modified, texts: ["about pears", "They are green."] });
  await using session = new ScreenSession({ place, turns: ["unused", "They are sweet."] });
  await session.opened();
  await session.say("/resume");
  await session.shows("Sessions");
  await session.shows("about apples");
  session.program.send("apples");
  await session.shows("1/1");
  session.program.send(KEYS.enter);
  await session.shows("They are red.");
  await session.say("and how do they taste?");
  await session.shows("They are sweet.");
  expect(await session.quit()).toContain(
    "> about apples\n\nThey are red.\n\n> and how do they taste?\n\nThey are sweet.\n",
  );
  place.remove();
});
