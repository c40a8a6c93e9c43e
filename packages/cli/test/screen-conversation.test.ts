import { expect, test } from "bun:test";
import { lines, ScreenSession } from "./support/screen-session.ts";

test.concurrent("a prompt is asked, tools are watched, the answer is read, and /quit leaves all of it in the scrollback", async () => {
  await using session = new ScreenSession({
    turns: [
      {
        thinking: "What may be in there?",
        text: "I will **look**.\n\n- one\n- two\n",
        toolCalls: [
          { name: "read", input: { file_path: "a.txt" } },
          { name: "bash", input: { command: "ls; sleep 0.2; echo done" } },
        ],
        chunkDelayMs: 2,
      },
      { text: "It says `hello`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n" },
    ],
  });
  session.place.write("a.txt", "hello\nworld\n");
  await session.opened();
  expect(await session.screen()).toBe(lines(">", "(status)"));
  await session.say("what does it say?");
  await session.shows("Running bash");
  await session.shows("It says");
  const shown = lines(
    "> what does it say?",
    "",
    "Thought for N s",
    "",
    "I will look.",
    "",
    "- one",
    "- two",
    "",
    "✓ read a.txt · 2 lines",
    "",
    "✓ bash ls; sleep 0.2; echo done",
    "  a.txt",
    "  script.json",
    "  done",
    "",
    "It says hello.",
    "",
    "a │ b",
    "──┼──",
    "1 │ 2",
    "",
    ">",
    "(status)",
  );
  expect(await session.screen()).toBe(shown);
  expect(await session.quit()).toBe(shown);
});

test.concurrent("of a running command the last lines are shown as they come, and the end of them when it is over", async () => {
  const command = "for i in $(seq 1 30); do echo line $i; sleep 0.02; done";
  await using session = new ScreenSession({
    turns: [{ toolCalls: [{ name: "bash", input: { command } }] }, "It is over."],
    args: ["--approval", "auto"],
  });
  await session.opened();
  await session.say("run it");
  const seen = await session.program.waitUntil((rows) => rows.join("\n").includes("• bash for i in"));
  expect(seen.join("\n")).toContain("Esc to stop");
  const running = await session.program.waitUntil((rows) => rows.some((row) => row === "  line 12"));
  const live = running.filter((row) => /^ {2}line \d+$/.test(row));
  expect(live.length).toBeLessThanOrEqual(5);
  await session.shows("It is over.");
  const shown = await session.screen();
  expect(shown).toContain("\n✓ bash for i in $(seq 1 30); do echo line $i; sleep 0.02; done");
  expect(shown).toContain("  … 20 lines above\n  line 21\n");
  expect(shown).toContain("  line 30\n\nIt is over.\n");
});
