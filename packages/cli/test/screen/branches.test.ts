import { expect, test } from "bun:test";
import { lines, ScreenSession } from "../support/screen-session.ts";
import { savedLines, savedMessages } from "../support/session-files.ts";

test.concurrent("Esc Esc opens the tree, and an earlier prompt is sent again as a new branch", async () => {
  await using session = new ScreenSession({
    turns: ["One.", "Two.", "Two, otherwise."],
    summaries: ["## Summary\n\nIt was tried."],
  });
  await session.opened();
  await session.say("first");
  await session.shows("One.");
  await session.say("second");
  await session.shows("Two.");
  await session.screen();
  session.press("escape");
  await Bun.sleep(60);
  session.press("escape");
  await session.shows("Session tree");
  await session.looksLike(
    /Session tree {2}type to filter {2}3\/3\n[\s\S]*first\n[\s\S]*second\n[\s\S]*Two\./,
  );
  session.press("up");
  await session.shows("2/3");
  session.press("enter");
  await session.shows("Restore conversation only");
  session.press("enter");
  await session.shows("> second");
  session.program.send(" try");
  await session.shows("second try");
  session.press("enter");
  await session.shows("Two, otherwise.");
  const transcript = await session.quit();
  expect(transcript).toEndWith("\n> second try\n\nTwo, otherwise.\n\n>\n(status)");
  const messages = savedMessages(session.place).filter(({ role }) => role === "user");
  expect(messages.map(({ content }) => content)).toEqual(["first", "second", "second try"]);
  const parents = savedLines(session.place).flatMap(({ type, message, parentId }) =>
    type === "message" && JSON.stringify(message).includes('"second') ? [parentId] : [],
  );
  expect(new Set(parents).size).toBe(1);
});

test.concurrent("/compact shows its progress and result, and the conversation continues", async () => {
  const long = "a long story ".repeat(1_500);
  await using session = new ScreenSession({
    contextWindow: 30_000,
    turns: [long, long, "Short."],
    summaries: [{ text: "## Goal\n\nTell stories.", delayMs: 300 }],
  });
  await session.opened();
  for (const [prompt, context] of [
    ["first tale", /2\d% context/],
    ["second tale", /4\d% context/],
  ] as const) {
    await session.say(prompt);
    await session.shows(context);
    await session.rests();
  }
  await session.say("/compact the stories");
  await session.hasShown("⟳ Compacting context (");
  await session.shows(/Context compacted: \d+k → \d+k? tokens/);
  await session.say("and now?");
  await session.shows("Short.");
  const transcript = await session.quit();
  expect(transcript.match(/Context compacted/g)).toHaveLength(1);
  expect(transcript).not.toContain("Compacting context");
  expect(transcript.match(/^> second tale$/gm)).toHaveLength(1);
});

test.concurrent("another model chosen during a session answers from then on", async () => {
  await using session = new ScreenSession({ turns: ["One.", "Not asked."] });
  session.place.write("other.json", {
    version: 1,
    turns: ["unused", "Two, says the other."].map((text) => ({ text })),
  });
  await session.opened();
  await session.say("first");
  await session.shows("One.");
  await session.say("/model scripted/other.json");
  await session.shows(/^scripted\/other\.json/m);
  await session.say("second");
  await session.shows("Two, says the other.");
  expect(await session.quit()).toMatch(
    /^> first\n\nOne\.\n\n[^>]*> second\n\nTwo, says the other\.\n\n>\n\(status\)$/,
  );
});

test.concurrent("a list of models is filtered by typing, and Esc closes it without a change", async () => {
  await using session = new ScreenSession({ turns: [] });
  await session.opened();
  await session.say("/model");
  await session.shows("type to filter");
  session.program.send("opus");
  await session.shows(/opus {2}1\/\d+/);
  const shown = await session.screen();
  expect(shown).toContain("claude-opus");
  expect(shown).not.toContain("gpt");
  session.press("escape");
  await session.looksLike(lines(">", "(status)"));
});

test.concurrent("/fork continues in a new session", async () => {
  await using session = new ScreenSession({ turns: ["One.", "Two."] });
  await session.opened();
  await session.say("first");
  await session.shows("One.");
  await session.say("/fork");
  await session.screen();
  await session.say("second");
  await session.shows("Two.");
  await session.quit();
  const files = [
    ...new Bun.Glob(".diligent/sessions/*.jsonl").scanSync({ cwd: session.place.project, dot: true }),
  ];
  expect(files).toHaveLength(2);
});
