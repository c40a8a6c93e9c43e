// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { toScreenLine } from "../../../src/tui/screen/line.ts";
import type { DrawnRegion } from "../../../src/tui/screen/region.ts";
import { countRowsAbove, detectRewrap, type Rewrap } from "../../../src/tui/screen/region.ts";
import { Chance } from "../../support/chance.ts";
import { startInPty } from "../../support/pty-program.ts";
import { ScreenStage } from "../../support/screen-stage.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";

const SCREEN_PROGRAM = join(import.meta.dir, "..", "..", "support", "screen-program.ts");

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

/** A live region like the program's: lines over the whole width, and the cursor between them. */
function drawEditor(stage: ScreenStage): void {
  stage.live = ["─".repeat(stage.terminal.columns), "> typed text|", "s".repeat(stage.terminal.columns)];
}

async function resize(stage: ScreenStage, columns: number, rows: number): Promise<void> {
  await stage.terminal.resize(columns, rows);
  drawEditor(stage);
  await stage.draw();
  await stage.draw();
}

const KINDS = [
  ["the width", (chance: Chance) => ({ columns: chance.between(30, 100) })],
  ["the height", (chance: Chance) => ({ rows: chance.between(12, 40) })],
  [
    "both, step by step",
    (_: Chance, now: { columns: number; rows: number }, chance = _) => ({
      columns: Math.min(100, Math.max(30, now.columns + chance.between(-4, 4))),
      rows: Math.min(40, Math.max(12, now.rows + chance.between(-2, 2))),
    }),
  ],
] as const;

describe("a live region that fits", () => {
  test.each(KINDS)("leaves no remainder when %s changes, and every line stays", async (_, change) => {
    for (let seed = 0; seed < 30; seed++) {
      const chance = new Chance(seed);
      const before = Array.from(
        { length: chance.between(0, 40) },
        (_, at) => `shell ${at} ${"y".repeat(chance.between(0, 99))}`,
      );
      const stage = new ScreenStage({
        columns: chance.between(40, 100),
        rows: chance.between(14, 30),
        before,
      });
      drawEditor(stage);
      await stage.start(...stage.live);
      const finished: string[] = [];
      for (let step = 0; step < 8; step++) {
        const line = `finished ${step} ${"x".repeat(chance.between(0, 120))}`;
        finished.push(line);
        await stage.draw(line);
        const { columns, rows } = { ...stage.terminal, ...sizeOf(stage), ...change(chance, sizeOf(stage)) };
        await resize(stage, columns, rows);
        const expected = [...before, ...finished, ...stage.live.map((text) => text.replace("|", ""))];
        expect(
          stage.lines().map((text) => text.trimEnd()),
          `seed ${seed}, step ${step}`,
        ).toEqual(expected.map((text) => text.trimEnd()));
      }
      stage.screen.stop();
    }
  });

  test("is redrawn 30 ms after the last change of the size, whatever arrives in between", async () => {
    const stage = new ScreenStage({ columns: 80, rows: 20, before: ["before"] });
    drawEditor(stage);
    await stage.start(...stage.live);
    const writes = stage.terminal.writes.length;
    let slowSteps = 0;
    for (let columns = 79, begin = performance.now(); columns > 60; columns--) {
      await stage.terminal.resize(columns, 20);
      stage.screen.finish([`at ${columns}`]);
      stage.screen.requestRender(true);
      const end = performance.now();
      if (end - begin > 20) slowSteps += 1;
      begin = end;
    }
    // None at all, unless this machine is so slow that a step takes longer.
    expect(stage.terminal.writes.length - writes).toBeLessThanOrEqual(4 * slowSteps);
    drawEditor(stage);
    await Bun.sleep(60);
    await stage.terminal.flush();
    expect(stage.lines().filter((row) => /^(before|at \d+)$/.test(row))).toEqual([
      "before",
      ...Array.from({ length: 19 }, (_, at) => `at ${79 - at}`),
    ]);
    expect(stage.lines().slice(-3)).toEqual(["─".repeat(61), "> typed text", "s".repeat(61)]);
  });
});

test("finished lines that were being written during a resize are neither lost nor duplicated", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const chance = new Chance(seed);
    const stage = new ScreenStage({ columns: chance.between(40, 110), rows: chance.between(15, 40) });
    drawEditor(stage);
    await stage.start(...stage.live);
    const finished: string[] = [];
    for (let step = 0; step < 12; step++) {
      const lines = [0, 1].map((at) => `finished ${step}.${at} ${"x".repeat(chance.between(0, 90))}`.trim());
      finished.push(...lines);
      stage.terminal.delay();
      stage.screen.finish(lines);
      stage.screen.renderNow();
      await stage.terminal.resize(chance.between(40, 110), chance.between(15, 40));
      stage.terminal.deliver();
      await stage.terminal.flush();
      drawEditor(stage);
      await stage.draw();
    }
    const shown = stage.lines().filter((line) => line.startsWith("finished"));
    // They may be followed by the end of the row's previous content.
    expect(
      shown.map((line, at) => line.slice(0, finished[at]?.length)),
      `seed ${seed}`,
    ).toEqual(finished);
    stage.screen.stop();
  }
});

function sizeOf({ terminal: { columns, rows } }: ScreenStage): { columns: number; rows: number } {
  return { columns, rows };
}

test("at 20 columns and 5 rows everything is cut to size", async () => {
  const stage = new ScreenStage({ columns: 80, rows: 24, before: ["before"] });
  await stage.start("a long line of an answer that goes on", "> typed|", "status that is longer than that");
  await stage.terminal.resize(20, 5);
  await stage.draw("finished line longer than 20");
  expect(stage.terminal.screen()).toEqual([
    "finished line longer",
    " than 20",
    "a long line of an a…",
    "> typed",
    "status that is long…",
  ]);
  expect(stage.terminal.cursor()).toEqual({ row: 3, column: 7, isVisible: true });
});

describe("a terminal's treatment of its rows", () => {
  const silent = { term: "xterm-256color", termProgram: undefined, device: undefined, hasAnswered: false };

  test.each<[string, Partial<Parameters<typeof detectRewrap>[0]>, Rewrap]>([
    ["xterm.js by its reply", { device: "0;276;0" }, "rewraps_around_cursor"],
    ["VS Code by its name", { termProgram: "vscode" }, "rewraps_around_cursor"],
    ["tmux, also in VS Code", { termProgram: "vscode", device: "84;0;0" }, "rewraps"],
    ["VTE", { device: "65;7600;1" }, "rewraps"],
    ["kitty", { device: "1;4000;29" }, "rewraps"],
    ["xterm", { device: "41;390;0" }, "keeps_rows"],
    ["GNU screen", { device: "83;50000;0" }, "keeps_rows"],
    ["mosh", { device: "1;10;0" }, "keeps_rows"],
    ["the Linux console", { term: "linux" }, "keeps_rows"],
    ["one that answers only other queries", { hasAnswered: true }, "rewraps"],
    ["one that does not identify itself", {}, "rewraps_around_cursor"],
  ])("is known for %s", (_, traits, rewrap) => {
    expect(detectRewrap({ ...silent, ...traits })).toBe(rewrap);
  });

  const region: DrawnRegion = {
    lines: ["─".repeat(80), `> ${"漢".repeat(30)}`, "s".repeat(80)].map((line) => toScreenLine(line)),
    width: 80,
    height: 24,
    row: 1,
    column: 62,
    isCursorShown: true,
    top: { min: 21, max: 21 },
  };

  test.each([
    // The rule takes 3 rows; the cursor is in the second row of its own line.
    ["rewraps", 35, 4],
    // Wide characters do not fit into the last column of 35: 2 + 16 of them, then 14.
    ["rewraps", 31, 5],
    // The status line adds 2 rows, which makes the cursor's line a wrapped one, by 1; then the rule adds 2.
    ["rewraps_around_cursor", 35, 6],
    ["keeps_rows", 35, 1],
    ["rewraps", 100, 1],
    ["rewraps_around_cursor", 100, 1],
  ] as const)(
    "if it %s, at %i columns puts the cursor %i rows below the region's first row",
    (rewrap, width, rows) => {
      expect(countRowsAbove(region, { width, height: 24, rewrap, isOneStep: true })).toBe(rows);
    },
  );

  test("is never assumed to have kept rows that may be gone", () => {
    const unknown = { ...region, top: { min: 0, max: 21 } };
    const steps = { width: 35, height: 24, rewrap: "rewraps_around_cursor", isOneStep: false } as const;
    expect(countRowsAbove(region, steps)).toBe(3);
    // If 2 rows may have been dropped at the end, those below the cursor do not count.
    expect(countRowsAbove(unknown, { ...steps, isOneStep: true, height: 22 })).toBe(3);
    const emoji = { ...region, lines: region.lines.with(0, toScreenLine("😀".repeat(40))) };
    expect(countRowsAbove(emoji, { ...steps, rewrap: "rewraps" })).toBe(3);
  });
});

const SIZES = [
  [40, 24],
  [80, 24],
  [30, 10],
  [75, 14],
  [22, 12],
  [100, 30],
  [60, 24],
] as const;

test("in a pseudo-terminal every line stays exactly once while the size changes repeatedly", async () => {
  const script = `echo shell one; echo shell two; exec ${process.execPath} ${SCREEN_PROGRAM} 50`;
  await using program = startInPty(place, [], { program: ["sh", "-c", script] });
  await program.waitFor("status of 80");
  const finished = (count: number) => `finished ${count} ${"x".repeat(50)}`;
  for (const [at, [columns, rows]] of SIZES.entries()) {
    program.send("f");
    await program.waitUntil((_, terminal) => terminal.lines().includes(finished(at + 1)));
    // At that moment no frame and no reply of the terminal is being transferred.
    await program.settle();
    await program.resizeAndRedraw(columns, rows);
    await program.waitFor(`status of ${columns}`.slice(0, columns - 1));
    await program.settle(60);
    const lines = program.terminal.lines();
    expect(lines.slice(0, -3)).toEqual([
      "shell one",
      "shell two",
      ...Array.from({ length: at + 1 }, (_, index) => finished(index + 1)),
    ]);
    expect(lines.slice(-3, -1)).toEqual(["─".repeat(columns), `> ${"f".repeat(at + 1)}`]);
  }
  expect(program.bytes).not.toMatch(/\x1b\[[23]J/);
});

// If it becomes much narrower at once, tmux moves rows to its history although there is room.
const TMUX_SIZES = [
  [40, 24],
  [80, 24],
  [50, 12],
  [75, 14],
  [60, 10],
  [100, 30],
  [60, 24],
] as const;

test.skipIf(Bun.which("tmux") === null)(
  "in tmux every line stays exactly once while the size changes repeatedly",
  async () => {
    const socket = join(place.top, "tmux");
    const command = `echo shell one; echo shell two; ${process.execPath} ${SCREEN_PROGRAM} 50`;
    const program = startInPty(place, ["-S", socket, "-f", "/dev/null", "new-session", command], {
      program: ["tmux"],
    });
    const tmux = (...args: string[]) => Bun.spawnSync(["tmux", "-S", socket, ...args]).stdout.toString();
    try {
      await program.waitFor("status of 80");
      for (const [at, [columns, rows]] of TMUX_SIZES.entries()) {
        program.send("f");
        await program.waitFor(`finished ${at + 1}`);
        await program.settle();
        await program.resizeAndRedraw(columns, rows);
        await program.waitFor(`status of ${columns}`.slice(0, columns - 1));
        await program.settle(60);
        const lines = tmux("capture-pane", "-p", "-J", "-S", "-")
          .trimEnd()
          .split("\n")
          .map((line) => line.trimEnd());
        expect(lines.slice(0, -1), `${columns}x${rows}`).toEqual([
          "shell one",
          "shell two",
          ...Array.from({ length: at + 1 }, (_, index) => `finished ${index + 1} ${"x".repeat(50)}`),
          "─".repeat(columns),
          `> ${"f".repeat(at + 1)}`,
        ]);
      }
    } finally {
      tmux("kill-server");
      await program[Symbol.asyncDispose]();
    }
  },
);
