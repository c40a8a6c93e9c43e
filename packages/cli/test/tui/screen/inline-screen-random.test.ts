// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { afterEach, expect, test } from "bun:test";
import { visibleWidth } from "../../../src/tui/screen/screen-text.ts";
import { plainText, playRandomFrames, type RandomRun } from "../../support/random-frames.ts";

// In groups, so that a busy machine can finish each.
const GROUPS = [0, 1, 2, 3];
const SEQUENCES = 50;
const CLEARS = /\x1b\[[23]J|\x1bc/;
const runs: RandomRun[] = [];

afterEach(() => {
  for (const { stage } of runs.splice(0)) stage.screen.stop();
});

async function play(seed: number, options: { isResized: boolean; isSettled: boolean }): Promise<RandomRun> {
  const run = await playRandomFrames(seed, options);
  runs.push(run);
  expect(run.stage.terminal.bytes, `seed ${seed}`).not.toMatch(CLEARS);
  return run;
}

/** The rows that the live region must have. */
function shownLive({ stage: { live, terminal } }: RandomRun): string[] {
  const hidden = live.length > terminal.rows ? live.length - terminal.rows + 1 : 0;
  const header = hidden > 0 ? [`… ${hidden} more lines above`.slice(0, terminal.columns)] : [];
  return [...header, ...live.slice(hidden).map((line) => cutText(plainText(line), terminal.columns))];
}

function cutText(text: string, columns: number): string {
  if (visibleWidth(text) <= columns) return text;
  let kept = text;
  while (visibleWidth(kept) > columns - 1) kept = kept.slice(0, -1);
  return `${kept}…`;
}

test.each(GROUPS)(
  `after each of ${SEQUENCES} random sequences in a terminal of one size, the screen is exactly right: group %i`,
  async (group) => {
    for (let seed = group * SEQUENCES; seed < (group + 1) * SEQUENCES; seed++) {
      const run = await play(seed, { isResized: false, isSettled: true });
      const rows = run.stage.lines();
      const expected = [...run.expected, ...shownLive(run)];
      expect(rows, `seed ${seed}`).toEqual(
        expected.slice(0, expected.findLastIndex((row) => row !== "") + 1),
      );
    }
  },
);

/** Lines that were live before may be in the scrollback twice: as a remainder from when the terminal got smaller, too. */
const wasNeverLive = (row: string) => row.startsWith("#");

test.each(GROUPS)(
  `after each of ${SEQUENCES} random sequences of frames and sizes, each finished line is there once, in order: group %i`,
  async (group) => {
    for (let seed = group * SEQUENCES; seed < (group + 1) * SEQUENCES; seed++) {
      const run = await play(seed, { isResized: true, isSettled: true });
      const rows = run.stage.lines();
      expect(rows.filter(wasNeverLive), `seed ${seed}`).toEqual(run.expected.filter(wasNeverLive));
      expect(
        run.expected.filter((line) => !rows.includes(line)),
        `seed ${seed}`,
      ).toEqual([]);
      const live = shownLive(run);
      expect(rows.slice(rows.length - live.length), `seed ${seed}`).toEqual(live);
    }
  },
);

test.each(GROUPS)(
  "no finished line is lost or duplicated if the terminal's character widths differ from ours: group %i",
  async (group) => {
    // The text itself is not compared: xterm.js mixes up composed characters when it rewraps.
    const numberOf = (row: string) => /^#\d+:/.exec(row)?.[0] ?? "";
    for (let seed = group * SEQUENCES; seed < (group + 1) * SEQUENCES; seed++) {
      const run = await play(seed, { isResized: true, isSettled: false });
      const shown = run.stage.lines().filter(wasNeverLive).map(numberOf);
      expect(shown, `seed ${seed}`).toEqual(run.expected.filter(wasNeverLive).map(numberOf));
    }
  },
);
