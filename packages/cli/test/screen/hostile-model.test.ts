import { expect, test } from "bun:test";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { ScreenSession } from "../support/screen-session.ts";

// Far above the time on an idle machine, far below the time when everything was laid out again.
const MAX_ECHO_MS = 1_000 + BUSY_MS;

const CALL_TURNS: Record<string, readonly object[]> = {
  "a name of a megabyte": [{ name: "n".repeat(1_000_000), input: {} }],
  "an argument of a megabyte": [{ name: "nope", input: { a: "z".repeat(1_000_000) } }],
  "a file of a megabyte": [
    { name: "write", input: { file_path: "big.txt", content: "z\n".repeat(500_000) } },
  ],
  "arguments of three thousand levels": [
    { name: "nope", input: JSON.parse(`${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`) },
  ],
  "unreadable arguments of a hundred thousand levels": [
    { name: "bash", input: `${'{"command":'.repeat(100_000)}1${"}".repeat(100_000)}` },
  ],
  "a thousand calls at once": Array.from({ length: 1_000 }, (_, index) => ({
    name: "read",
    input: { file_path: `${index}.txt` },
  })),
  "an output of a hundred thousand lines": [{ name: "bash", input: { command: "seq 100000" } }],
  "a line of ten megabytes": [
    { name: "bash", input: { command: "head -c 10000000 /dev/zero | tr '\\0' x" } },
  ],
};

const ANSWERS: Record<string, string> = {
  "one line of a megabyte": "x".repeat(1_000_000),
  "one line of a megabyte of words": "lorem ipsum ".repeat(83_000),
  "lists within lists": Array.from({ length: 400 }, (_, index) => `${" ".repeat(index * 2)}- a`).join("\n"),
  "ten thousand lists on one line": `${"- ".repeat(10_000)}a\n`,
  "ten thousand quotes on one line": `${"> ".repeat(10_000)}a\n`,
  "brackets and emphasis that nobody closes":
    "[".repeat(50_000) + "![".repeat(10_000) + "*a **b _c ".repeat(4_000),
  "a list of twenty thousand items": "- item of a list\n".repeat(20_000),
  "a table of 500 columns": [" c", "--", ...Array<string>(100).fill(" d")]
    .map((cell) => `|${`${cell} |`.repeat(500)}`)
    .join("\n"),
  "code of a megabyte": `\`\`\`ts\n${"const a = 1; // yes\n".repeat(50_000)}\`\`\`\n`,
};

/** What the transcript shows of some of them. */
const SHOWN: Readonly<Record<string, (transcript: string) => void>> = {
  "a thousand calls at once": (transcript) =>
    expect(transcript.match(/✗ read \d+\.txt/g)).toHaveLength(1_000),
  "an output of a hundred thousand lines": (transcript) =>
    expect(transcript).toContain("  99999\n  100000\n"),
};

test.each(Object.entries(CALL_TURNS))("a model with %s does not delay keys", async (name, toolCalls) => {
  await using session = new ScreenSession({
    contextWindow: 10_000_000,
    // The calls contain more than is sent to a model by default.
    config: { sandbox: "off", compaction: { maxContextTokens: 10_000_000 } },
    turns: [{ toolCalls }, "It is over."],
    args: ["--approval", "auto"],
  });
  await session.opened();
  expect(await writeDuring(session, "go")).toBeLessThan(MAX_ECHO_MS);
  const transcript = await session.quit();
  SHOWN[name]?.(transcript);
});

test.each(Object.entries(ANSWERS))("an answer that is %s does not delay keys", async (_, text) => {
  const turn = { text: `${text}\n\nIt is over.`, chunkChars: 5_000, chunkDelayMs: 1 };
  await using session = new ScreenSession({ turns: [turn] });
  await session.opened();
  expect(await writeDuring(session, "go")).toBeLessThan(MAX_ECHO_MS);
  await session.say("/quit");
  expect(await session.program.exitCode).toBe(0);
});

/**
 * Sends a prompt and types until the run has ended. Returns the longest echo time of a letter, in
 * milliseconds.
 */
async function writeDuring(session: ScreenSession, prompt: string): Promise<number> {
  await session.say(prompt);
  let longest = 0;
  let letters = 0;
  for (let isOver = false; !isOver; letters++) {
    const letter = String.fromCharCode(97 + (letters % 26));
    const pressedAt = performance.now();
    session.program.send(letter);
    const rows = await session.program.waitUntil((shown) => promptEnd(shown).endsWith(letter));
    longest = Math.max(longest, performance.now() - pressedAt);
    isOver = rows.includes("It is over.") && !rows.join("\n").includes("Esc to stop");
    await Bun.sleep(20);
  }
  session.press("ctrlC");
  await session.shows(/^>$/m);
  return longest;
}

/** The last row of the prompt, which is above the status line. */
function promptEnd(rows: readonly string[]): string {
  return rows.findLast((row) => row !== "" && !row.includes("% context")) ?? "";
}
