// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { describe, expect, test } from "bun:test";
import { ScreenStage } from "../../support/screen-stage.ts";

const SYNCHRONISED = /^\x1b\[\?2026h[\s\S]*\x1b\[\?2026l$/;
const EDITOR = ["────", "> hello|", "────"];

test("the current state stays when the screen is left, not the last drawn one", async () => {
  const stage = new ScreenStage({ columns: 40, rows: 6, before: ["1", "2", "3"] });
  await stage.start("half an answer", "spinner", ...EDITOR);
  stage.live = EDITOR;
  stage.screen.finish(["half an answer", "interrupted"]);
  stage.screen.leaveRegion();
  stage.terminal.write("$ ");
  await stage.terminal.flush();
  const rows = ["1", "2", "3", "half an answer", "interrupted", "────", "> hello", "────", "$"];
  expect(stage.rows().filter((row) => row !== "")).toEqual(rows);
});

describe("finished lines", () => {
  test("are above the live region, below the shell's output, in their order", async () => {
    const stage = new ScreenStage({ columns: 40, rows: 10, before: ["$ ls", "file", "$ diligent"] });
    await stage.start("thinking", ...EDITOR);
    await stage.draw("first", "second");
    stage.live = EDITOR;
    await stage.draw("third", "");
    expect(stage.rows()).toEqual([
      "$ ls",
      "file",
      "$ diligent",
      "first",
      "second",
      "third",
      "",
      "────",
      "> hello",
      "────",
    ]);
  });

  test("that were live and look the same are not written again", async () => {
    const stage = new ScreenStage({ columns: 40, rows: 10 });
    await stage.start("one", "two", "three", ...EDITOR);
    stage.live = ["three", ...EDITOR];
    expect(await stage.draw("one", "two")).toBe("");
    expect(stage.rows()).toEqual(["one", "two", "three", "────", "> hello", "────"]);
    stage.live = ["three and more", ...EDITOR];
    expect(await stage.draw()).toMatch(/^\x1b\[\?2026h\x1b\[2A\x1b\[6G and more\r\n\n\x1b\[8G\x1b\[\?2026l$/);
    expect(stage.rows()).toEqual(["one", "two", "three and more", "────", "> hello", "────"]);
  });

  test("that exceed the screen's rows all reach the scrollback", async () => {
    const stage = new ScreenStage({ columns: 40, rows: 6, before: ["before"] });
    await stage.start("live", ...EDITOR);
    const many = Array.from({ length: 500 }, (_, index) => `line ${index}`);
    stage.live = EDITOR;
    await stage.draw(...many);
    expect(stage.rows()).toEqual(["before", ...many, "────", "> hello", "────"]);
  });

  test("wider than the terminal are wrapped by it, so that copying gives the whole line", async () => {
    const stage = new ScreenStage({ columns: 20, rows: 8 });
    await stage.start("live");
    await stage.draw("x".repeat(50), "short");
    expect(stage.rows()).toEqual(["x".repeat(20), "x".repeat(20), "x".repeat(10), "short", "live"]);
    expect(stage.lines()).toEqual(["x".repeat(50), "short", "live"]);
  });

  test("queued when the screen stops are still written", async () => {
    const stage = new ScreenStage({ columns: 40, rows: 6 });
    await stage.start("live|");
    stage.screen.finish(["last words"]);
    stage.screen.stop();
    await stage.terminal.flush();
    expect(stage.rows()).toEqual(["last words", "live"]);
    expect(stage.terminal.cursor()).toEqual({ row: 2, column: 0, isVisible: true });
  });

  test("queued before the screen starts wait for it", async () => {
    const stage = new ScreenStage({ columns: 40, rows: 6 });
    stage.screen.finish(["early"]);
    await Bun.sleep(5);
    expect(stage.terminal.bytes).toBe("");
    await stage.start("live");
    expect(stage.rows()).toEqual(["early", "live"]);
  });
});

describe("a frame", () => {
  test("without changes writes nothing", async () => {
    const stage = new ScreenStage();
    await stage.start("live", ...EDITOR);
    expect([await stage.draw(), await stage.draw()]).toEqual(["", ""]);
  });

  test("in which only the cursor has moved moves only the cursor", async () => {
    const stage = new ScreenStage();
    await stage.start("> hello|", "status");
    stage.live = ["> hello", "status|"];
    expect(await stage.draw()).toBe("\x1b[?2026h\r\n\x1b[7G\x1b[?2026l");
  });

  test("that adds a line above the editor does not write the editor again", async () => {
    const stage = new ScreenStage({ rows: 6 });
    await stage.start("one", ...EDITOR, "status");
    stage.live = ["one", "two", ...EDITOR, "status"];
    const written = await stage.draw();
    expect(written).toMatch(SYNCHRONISED);
    expect(written).not.toContain("─");
    expect(stage.rows()).toEqual(["one", "two", "────", "> hello", "────", "status"]);
  });

  test("that scrolls a region as tall as the screen writes only the new line", async () => {
    const stage = new ScreenStage({ columns: 40, rows: 8 });
    const all = Array.from({ length: 30 }, (_, index) => `this is line ${index}`);
    await stage.start(...all.slice(0, 20), ...EDITOR);
    stage.live = [...all.slice(0, 21), ...EDITOR];
    const written = await stage.draw();
    expect(stage.rows()).toEqual(["… 17 more lines above", ...all.slice(17, 21), "────", "> hello", "────"]);
    expect(written).toContain("this is line 20");
    expect(written).not.toContain("this is line 19");
  });

  test("is one write, and one update for the terminal", async () => {
    const stage = new ScreenStage();
    await stage.start("a", "b", ...EDITOR);
    const writes = stage.terminal.writes.length;
    stage.live = ["A", "c", "\x1b[31md\x1b[39m", ...EDITOR];
    expect(await stage.draw("finished", "more")).toMatch(SYNCHRONISED);
    expect(stage.terminal.writes.length - writes).toBe(1);
  });

  test("is drawn at most 20 times a second, however often it is requested, but at once after a key", async () => {
    const stage = new ScreenStage();
    await stage.start("0");
    const writes = stage.terminal.writes.length;
    const startedAt = performance.now();
    for (let count = 1; performance.now() - startedAt < 300; count++) {
      stage.live = [`count ${count}`];
      stage.screen.requestRender();
      await Bun.sleep(1);
    }
    expect(stage.terminal.writes.length - writes).toBeLessThanOrEqual(7);
    stage.screen.setFocus({
      render: () => [],
      invalidate() {},
      handleInput: (key) => {
        stage.live = [`typed ${key}`];
      },
    });
    stage.terminal.type("k");
    await Bun.sleep(2);
    await stage.terminal.flush();
    expect(stage.rows()).toEqual(["typed k"]);
    // Even if a listener has handled the key and only requested a frame.
    stage.screen.addInputListener((key) => {
      stage.live = [`heard ${key}`];
      stage.screen.requestRender();
      return { consume: true };
    });
    for (const key of ["a", "b", "c"]) stage.terminal.type(key);
    const before = stage.terminal.writes.length;
    await Bun.sleep(0);
    await stage.terminal.flush();
    expect(stage.rows()).toEqual(["heard c"]);
    expect(stage.terminal.writes.length - before).toBe(1);
  });
});

describe("the live region", () => {
  test("taller than the screen shows its end, and the number of hidden rows", async () => {
    const stage = new ScreenStage({ columns: 30, rows: 4, before: ["before"] });
    await stage.start("1", "2", "3", "4", "5", "6|");
    expect(stage.rows()).toEqual(["before", "… 3 more lines above", "4", "5", "6"]);
    expect(stage.terminal.cursor()).toEqual({ row: 3, column: 1, isVisible: true });
    stage.live = ["1", "2", "3", "4|", "5"];
    await stage.draw();
    expect(stage.rows()).toEqual(["before", "… 2 more lines above", "3", "4", "5"]);
    stage.live = ["1|", "2", "3", "4", "5"];
    await stage.draw();
    expect(stage.terminal.cursor().isVisible).toBe(false);
  });

  test("of one row on a screen of one row still works", async () => {
    const stage = new ScreenStage({ columns: 30, rows: 1, before: ["before"] });
    await stage.start("1", "2|");
    await stage.draw("finished");
    expect(stage.rows()).toEqual(["before", "finished", "2"]);
  });

  test("may be empty, and then leaves no trace", async () => {
    const stage = new ScreenStage({ columns: 30, rows: 5, before: ["before"] });
    await stage.start("a", "b|");
    stage.live = [];
    await stage.draw("finished");
    expect(stage.rows()).toEqual(["before", "finished"]);
    stage.screen.stop();
    await stage.terminal.flush();
    expect(stage.terminal.cursor()).toEqual({ row: 2, column: 0, isVisible: true });
  });

  test("starts on a new row if the shell left text before the cursor", async () => {
    const stage = new ScreenStage({ columns: 30, rows: 5 });
    stage.terminal.write("no line end");
    await stage.start("live|");
    expect(stage.rows()).toEqual(["no line end", "live"]);
    await stage.terminal.resize(60, 5);
    await stage.draw();
    expect(stage.rows()).toEqual(["no line end", "live"]);
  });

  test("is redrawn completely when another program has overwritten it", async () => {
    const stage = new ScreenStage({ columns: 30, rows: 6 });
    await stage.start("one", "two|", "three");
    stage.terminal.write("\rgarbage\x1b[4G");
    stage.screen.requestRender(true);
    await Bun.sleep(2);
    await stage.terminal.flush();
    expect(stage.rows()).toEqual(["one", "two", "three"]);
  });
});

describe("the terminal's cursor", () => {
  test("is at the mark, even after wide characters, tabs and styles, and hidden if there is none", async () => {
    const stage = new ScreenStage({ columns: 30 });
    await stage.start("a", "\x1b[1m漢字\x1b[22m\tb|", "c");
    expect(stage.terminal.cursor()).toEqual({ row: 1, column: 8, isVisible: true });
    stage.live = ["a", "b"];
    await stage.draw();
    expect(stage.terminal.cursor().isVisible).toBe(false);
    stage.live = ["a", "x".repeat(30).concat("|")];
    await stage.draw();
    expect(stage.terminal.cursor()).toEqual({ row: 1, column: 29, isVisible: true });
  });
});

describe("the screen's output", () => {
  test("contains only our own escape sequences, whatever the lines contain", async () => {
    const stage = new ScreenStage({ columns: 30, rows: 6, before: ["before"] });
    const hostile =
      "a\x1b[2Jb\x1b[3Jc\x1bcd\x1b]0;title\x07e\x1b]52;c;AAAA\x07f\x1bP1$q\x1b\\g\x9b2Jh\x1b[6ni\rj\nk\bl\x1b[31mred";
    await stage.start(hostile, "next|");
    await stage.draw(hostile);
    expect(stage.rows()).toEqual(["before", "abccdefg2Jhi j klred", "abccdefg2Jhi j klred", "next"]);
    expect(stage.terminal.title).toBe("");
    // A colour that was left on ends with its line.
    expect(stage.terminal.cell(3, 0)).toMatchObject({ text: "n", foreground: undefined });
    expect(stage.terminal.cell(2, 17)).toMatchObject({ text: "r", foreground: 1 });
    expect(stage.terminal.bytes).not.toMatch(/\x1b\[[23]J|\x1bc|\x1b\]0|\x1b\]52|\x9b/);
  });

  test("has only the beginning of a live line that is too wide, with styles and links closed", async () => {
    const stage = new ScreenStage({ columns: 10, rows: 6 });
    await stage.start(
      "0123456789abc",
      "\x1b[41m漢字漢字漢字\x1b[49m",
      "\x1b]8;;https://example.com\x1b\\a long link text\x1b]8;;\x1b\\",
      "plain",
    );
    expect(stage.rows()).toEqual(["012345678…", "漢字漢字…", "a long li…", "plain"]);
    expect(stage.terminal.cell(1, 8)).toMatchObject({ text: "…", background: 1 });
    expect(stage.terminal.cell(3, 0)).toMatchObject({ background: undefined });
    const opened = stage.terminal.bytes.split("\x1b]8;;https").length;
    expect(stage.terminal.bytes.split("\x1b]8;;\x1b\\").length).toBe(opened);
  });

  test("keeps rows apart if the terminal considers characters wider than we do", async () => {
    // xterm.js without further tables shows each person of a family separately.
    const family = "👨‍👩‍👧‍👦".repeat(8);
    const stage = new ScreenStage({ columns: 20, rows: 8 });
    await stage.start("above", family, "below|");
    stage.live = ["above", family, "below changed|"];
    await stage.draw();
    expect(stage.terminal.screen()[0]).toBe("above");
    expect(stage.terminal.screen()[2]).toBe("below changed");
    expect(stage.terminal.modes.wraparoundMode).toBe(true);
    stage.live = ["below changed|"];
    await stage.draw("above", family);
    expect(stage.lines()).toEqual(["above", family, "below changed"]);
  });
});

test("clears nothing except the live region", async () => {
  const stage = new ScreenStage({ columns: 20, rows: 6, before: ["before"] });
  await stage.start("live|");
  expect(() => stage.screen.terminal.clearScreen()).toThrow("shared with the shell");
  for (const [columns, rows] of [
    [10, 3],
    [40, 10],
    [20, 6],
  ] as const) {
    await stage.terminal.resize(columns, rows);
    await stage.draw("finished");
  }
  expect(stage.rows()).toEqual(["before", "finished", "finished", "finished", "live"]);
  expect(stage.terminal.bytes).not.toMatch(/\x1b\[[23]J/);
});

test("redraw() restores the live region after somebody else wrote over it", async () => {
  const stage = new ScreenStage({ columns: 40, rows: 10, before: ["$ diligent"] });
  await stage.start("tail", ...EDITOR);
  await stage.draw("finished");
  stage.terminal.write("\r\nBroadcast message\r\nfrom root");
  await stage.terminal.flush();
  expect(stage.rows().join("\n")).toContain("Broadcast message");
  stage.screen.redraw();
  stage.screen.renderNow();
  await stage.terminal.flush();
  expect(stage.rows()).toEqual(["$ diligent", "finished", "tail", "────", "> hello", "────"]);
});

test("redraw() finds the live region also where nothing was finished since the terminal was taken", async () => {
  const stage = new ScreenStage({ columns: 40, rows: 10, before: ["$ diligent"], isTalking: false });
  await stage.start("tail", ...EDITOR);
  stage.terminal.type("\x1b[?1;2c\x1b[>65;7600;1c");
  await stage.draw();
  const { row, column } = stage.terminal.cursor();
  expect(stage.terminal.bytes).toEndWith("\x1b[6n");
  stage.terminal.type(`\x1b[${row + 1};${column + 1}R`);
  stage.terminal.write("\r\nBroadcast message\r\nfrom root");
  stage.screen.redraw();
  stage.screen.renderNow();
  await stage.terminal.flush();
  expect(stage.rows()).toEqual(["$ diligent", "tail", "────", "> hello", "────"]);
});
