import { expect, test } from "bun:test";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { lines, ScreenSession } from "../support/screen-session.ts";
import { WAIT_FOR_GO } from "../support/wait-for-go.ts";

const AUTO = ["--approval", "auto"];
const WAITING = { toolCalls: [{ name: "bash", input: { command: WAIT_FOR_GO } }] };

test.concurrent("a prompt sent while the model works is shown as queued and joins the next turn", async () => {
  await using session = new ScreenSession({ turns: [WAITING, "I have seen both."], args: AUTO });
  await session.opened();
  await session.say("begin");
  await session.shows("Running bash");
  await session.say("first hint");
  await session.shows("queued: first hint");
  await session.say("second hint");
  await session.shows("queued: second hint");
  await session.shows("  queued: first hint\n  queued: second hint\n  Alt+↑ edits the last one\n");
  session.place.write("go", "");
  await session.shows("I have seen both.");
  expect(await session.quit()).toBe(
    lines(
      "> begin",
      "",
      `✓ bash ${WAIT_FOR_GO}`,
      "  (no output)",
      "",
      "> first hint",
      "",
      "> second hint",
      "",
      "I have seen both.",
      "",
      ">",
      "(status)",
    ),
  );
});

test.concurrent("Alt+Up returns the last queued prompt for editing", async () => {
  await using session = new ScreenSession({ turns: [WAITING, "Seen."], args: AUTO });
  await session.opened();
  await session.say("begin");
  await session.shows("Running bash");
  await session.say("one");
  await session.say("two");
  await session.shows("queued: two");
  session.press("altUp");
  await session.shows(/^> two/m);
  expect(await session.screen(0)).not.toContain("queued: two");
  session.program.send("!");
  await session.shows("> two!");
  session.press("enter");
  await session.shows("queued: two!");
  session.place.write("go", "");
  await session.shows("Seen.");
  expect(await session.quit()).toContain("\n> one\n\n> two!\n\nSeen.\n");
});

test.concurrent("Esc stops a tool within a second and returns queued text; the conversation continues", async () => {
  await using session = new ScreenSession({
    turns: [{ toolCalls: [{ name: "bash", input: { command: "sleep 30" } }] }, "Again."],
  });
  await session.opened();
  await session.say("begin");
  await session.shows("Running bash");
  await session.say("a thought");
  await session.shows("queued: a thought");
  const pressedAt = performance.now();
  session.press("escape");
  await session.shows(/^> a thought/m);
  await session.shows(/^interrupted/m);
  expect(performance.now() - pressedAt).toBeLessThan(1_000 + BUSY_MS);
  expect(await session.screen()).not.toContain("queued");
  session.press("enter");
  await session.shows("Again.");
  const transcript = await session.quit();
  expect(transcript).toContain("> begin\n\n✗ bash sleep 30");
  expect(transcript).toEndWith("\n\n> a thought\n\nAgain.\n\n>\n(status)");
});

test.concurrent("Esc during an answer keeps the received text, once", async () => {
  const text = Array.from({ length: 300 }, (_, index) => `word${index}`).join(" ");
  await using session = new ScreenSession({
    turns: [{ text: `Begun.\n\n${text}`, chunkDelayMs: 10 }, "Next."],
  });
  await session.opened();
  await session.say("tell me");
  await session.shows("word9");
  session.press("escape");
  await session.shows(/^interrupted/m);
  await session.looksLike(/^> tell me\n\nBegun\.\n\nword0 word1 [\s\S]*\n\ninterrupted\n\n>\n\(status\)$/);
  expect(await session.screen()).not.toContain("word299");
  await session.say("go on");
  await session.shows("Next.");
  const transcript = await session.quit();
  expect(transcript.match(/Begun\./g)).toHaveLength(1);
  expect(transcript.match(/word0 /g)).toHaveLength(1);
});

test.concurrent("a failed request is retried without showing its text twice", async () => {
  await using session = new ScreenSession({
    turns: [
      { text: "The answer is ", error: { errorType: "stream_cut", message: "Cut.", retryAfterMs: 300 } },
      "The answer is 42.",
    ],
  });
  await session.opened();
  await session.say("what is it?");
  await session.shows(/Attempt \d/);
  await session.shows("The answer is 42.");
  expect((await session.quit()).match(/The answer is/g)).toHaveLength(1);
});

test.concurrent("Ctrl+C clears the prompt, and a second Ctrl+C quits", async () => {
  await using session = new ScreenSession({ turns: [] });
  await session.opened();
  session.program.send("half a");
  await session.shows("> half a");
  session.press("ctrlC");
  await session.shows("Press Ctrl+C again to quit");
  expect(await session.screen(20)).not.toContain("half a");
  session.press("ctrlC");
  expect(await session.program.exitCode).toBe(0);
});
