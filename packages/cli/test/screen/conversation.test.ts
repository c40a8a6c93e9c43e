import { expect, test } from "bun:test";
import { lines, ScreenSession } from "../support/screen-session.ts";

test.concurrent("a prompt, its tools and its answer are shown, and /quit leaves all of it in the scrollback", async () => {
  await using session = new ScreenSession({
    // Tall enough that nothing leaves the screen, even when the live region is at its tallest.
    rows: 40,
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
  await session.looksLike(lines(">", "(status)"));
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
  await session.looksLike(shown);
  expect(await session.quit()).toBe(shown);
});

test.concurrent("a running command shows its last five lines, and a finished one its last ten", async () => {
  // It waits in the middle, so that a slow machine shows that state too, and ends by itself if the test fails.
  const command = "seq 12; for i in $(seq 999); do [ -e go ] || sleep 0.02; done; seq 13 30";
  await using session = new ScreenSession({
    turns: [{ toolCalls: [{ name: "bash", input: { command } }] }, "It is over."],
    args: ["--approval", "auto"],
  });
  await session.opened();
  await session.say("run it");
  const running = await session.program.waitUntil((rows) => rows.includes("  12"));
  const text = running.join("\n");
  expect(text).toContain(`• bash ${command}`);
  expect(text).toContain("Esc to stop");
  const live = running.filter((row) => /^ {2}\d+$/.test(row));
  expect(live).toEqual(["  8", "  9", "  10", "  11", "  12"]);
  session.place.write("go", "");
  await session.shows("It is over.");
  const shown = await session.screen();
  expect(shown).toContain(`\n✓ bash ${command}\n`);
  expect(shown).toContain("  … 20 lines above\n  21\n");
  expect(shown).toContain("  30\n\nIt is over.\n");
});
