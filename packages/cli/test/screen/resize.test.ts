import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM } from "../support/run-diligent.ts";
import { lines, ScreenSession } from "../support/screen-session.ts";
import { said, savedMessages, sessionIds } from "../support/session-files.ts";

const SHELL_LINES = Array.from({ length: 40 }, (_, index) => `shell line ${index}`);
const PARAGRAPHS = Array.from({ length: 30 }, (_, index) => `Paragraph ${index} of it.`);

/** Starts after shell output, the last line of which has no line end. */
function startFromShell({ chunkDelayMs, ...size }: { columns: number; rows: number; chunkDelayMs: number }) {
  const print = `for i in $(seq 0 39); do echo "shell line $i"; done; printf '$ diligent'; exec "$@"`;
  const text = PARAGRAPHS.join("\n\n");
  return new ScreenSession({
    ...size,
    turns: [{ text, chunkDelayMs, chunkChars: 12 }],
    program: ["sh", "-c", print, "sh", PROGRAM],
  });
}

const WALKS: Record<string, (readonly [number, number])[]> = {
  "wider and narrower": [
    [120, 24],
    [60, 24],
    [100, 24],
    [80, 24],
  ],
  "higher and lower": [
    [80, 40],
    [80, 10],
    [80, 30],
    [80, 24],
  ],
  "both at once": [
    [120, 40],
    [40, 15],
    [200, 50],
    [80, 24],
  ],
};

const TRANSCRIPT = ["> tell me", "", ...PARAGRAPHS.flatMap((paragraph) => [paragraph, ""])];
const ALL_LINES = finishedLines(lines(...SHELL_LINES, ...TRANSCRIPT));

describe("resizing the terminal", () => {
  for (const [name, walk] of Object.entries(WALKS)) {
    test.concurrent(`${name} leaves everything printed in the scrollback as it was, including the shell's lines`, async () => {
      await using session = startFromShell({ columns: 80, rows: 24, chunkDelayMs: 0 });
      await session.opened();
      await session.say("tell me");
      await session.shows("Paragraph 29 of it.");
      await session.rests();
      for (const [columns, rows] of walk) {
        await session.program.resizeAndRedraw(columns, rows);
        await session.screen(70);
      }
      const all = [...SHELL_LINES, "$ diligent", ...TRANSCRIPT, ">", "(status)"];
      expect(await session.quit()).toBe(lines(...all));
    });

    test.concurrent(`${name} while streaming leaves every finished line in the scrollback exactly once`, async () => {
      await using session = startFromShell({ columns: 80, rows: 24, chunkDelayMs: 12 });
      await session.opened();
      await session.say("tell me");
      await session.hasShown("Paragraph 1 ");
      let raced = 0;
      for (const [columns, rows] of walk) {
        if (await session.program.resizeAndRedraw(columns, rows)) raced += 1;
        await Bun.sleep(80);
      }
      await hasAnswered(session, "Paragraph 29 of it.");
      expectAllBut(raced, finishedLines(await session.quit()), ALL_LINES);
    });
  }

  for (const [name, open, close] of [
    ["a list", "- ", ""],
    ["code", "```\n", "\n```\n"],
  ] as const) {
    test.concurrent(`while ${name} streams that is taller than the screen leaves each of its lines there once`, async () => {
      const items = Array.from({ length: 60 }, (_, at) => `item ${at} of it`);
      const text = open + items.join(name === "code" ? "\n" : "\n- ") + close;
      await using session = new ScreenSession({
        columns: 80,
        rows: 24,
        turns: [{ text, chunkDelayMs: 12, chunkChars: 8 }],
      });
      await session.opened();
      await session.say("tell me");
      await session.hasShown("item 20 of it");
      let raced = 0;
      for (const walk of Object.values(WALKS))
        for (const [columns, rows] of walk) {
          if (await session.program.resizeAndRedraw(columns, rows)) raced += 1;
        }
      await hasAnswered(session, "item 59 of it");
      // A piece of the last line, which is live, may be left behind.
      const whole = findWhole(await session.quit(), /item \d+ of it/g);
      expectAllBut(
        raced,
        whole.filter((row, index) => row !== whole[index + 1]),
        items,
      );
      expect(whole.length - items.length).toBeLessThan(4 + raced);
    });
  }

  test.concurrent("in many small steps by a dragged edge loses and duplicates nothing", async () => {
    await using session = startFromShell({ columns: 80, rows: 24, chunkDelayMs: 12 });
    await session.opened();
    await session.say("tell me");
    await session.hasShown("Paragraph 1 ");
    let raced = 0;
    for (let step = 1; step <= 60; step++) {
      const away = step <= 30 ? step : 60 - step;
      const [columns, rows] = [80 - away, 24 + Math.floor(away / 4)];
      if (await session.program.resizeBetweenFrames(columns, rows)) raced += 1;
    }
    await hasAnswered(session, "Paragraph 29 of it.");
    expectAllBut(raced, finishedLines(await session.quit()), ALL_LINES);
  });
});

/** Resolves once the whole answer is saved and drawn. On the screen, its last line may be in two parts or scrolled away. */
async function hasAnswered({ place, program }: ScreenSession, end: string): Promise<void> {
  const directory = join(place.project, ".diligent", "sessions");
  const isSaved = () =>
    existsSync(directory) &&
    sessionIds(place).some((id) => said(savedMessages(place, id)).some((message) => message.includes(end)));
  await program.waitUntil(isSaved);
  await program.settle();
}

/**
 * A line that was still being written during the resize goes where it would have been before, so its parts
 * may be separate. All others are complete, once and in order.
 */
function expectAllBut(raced: number, found: readonly string[], all: readonly string[]): void {
  const broken = all.filter((line) => !found.includes(line));
  expect(broken.length).toBeLessThanOrEqual(raced);
  expect(found).toEqual(all.filter((line) => !broken.includes(line)));
}

/**
 * The finished lines, in order. The live rows of a frame that was being written during the resize may be left
 * behind, above the same lines: their position is unknown, and nothing above them is erased.
 */
function finishedLines(transcript: string): string[] {
  const rows = findWhole(transcript, /shell line \d+|Paragraph \d+ of it\.|> tell me/g);
  return rows.filter((row, index) => row !== rows[index + 1]);
}

/** Complete lines. A line that was being written during the resize may take two rows. */
function findWhole(transcript: string, line: RegExp): string[] {
  return transcript.replace(/\s*\n\s*/g, " ").match(line) ?? [];
}

test.concurrent("the prompt works at 20 columns, and back at 80 nothing of the small screen is left", async () => {
  await using session = new ScreenSession({ columns: 20, rows: 10, turns: ["A short answer."] });
  await session.shows(">");
  await session.program.settle();
  session.program.send("what is the meaning of this?");
  await session.shows("of this?");
  await session.looksLike(/^> what is the\n {2}meaning of this\?\n/);
  session.press("enter");
  await session.shows("A short answer.");
  await session.screen();
  await session.program.resize(80, 24);
  await session.shows(/% context · /);
  expect(await session.quit()).toMatch(
    /^> what is the\n {2}meaning of this\?\n\nA short answer\.\n\n>\n\(status\)$/,
  );
});
