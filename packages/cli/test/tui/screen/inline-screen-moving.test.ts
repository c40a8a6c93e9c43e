import { expect, test } from "bun:test";
import { Chance } from "../../support/chance.ts";
import { ScreenStage } from "../../support/screen-stage.ts";

/**
 * A screen with frames that follow each other without keys, in a terminal that keeps the cursor at its
 * character.
 */
async function startMoving(columns = 60): Promise<ScreenStage> {
  const stage = new ScreenStage({ columns, rows: 24, isTalking: false });
  stage.screen.isMoving = () => true;
  stage.screen.start();
  stage.terminal.type("\x1b[?1;2c\x1b[>65;7600;1c");
  return stage;
}

test("while frames follow each other, the cursor waits in the first live row and the prompt shows a drawn one", async () => {
  const stage = await startMoving();
  stage.live = ["text of the answer", "", "> typed|", "status"];
  await stage.draw("finished");
  expect(stage.terminal.cursor()).toEqual({ row: 1, column: 0, isVisible: false });
  const [, , , prompt] = stage.rows();
  expect([prompt, stage.terminal.cell(3, 6).text, stage.terminal.cell(3, 7).isInverse]).toEqual([
    "> typed",
    "d",
    true,
  ]);
  stage.screen.isMoving = () => false;
  await stage.draw();
  expect(stage.terminal.cursor()).toEqual({ row: 3, column: 7, isVisible: true });
  expect(stage.terminal.cell(3, 7).isInverse).toBe(false);
  stage.screen.stop();
});

test("the drawn cursor inverts the character under it, even a wide one", async () => {
  const stage = await startMoving();
  stage.live = ["> 漢字".replace("字", "\x1b_pi:c\x07字")];
  await stage.draw();
  expect([stage.rows(), stage.terminal.cell(0, 4).isInverse]).toEqual([["> 漢字"], true]);
  stage.screen.stop();
});

/** Every frame adds a line, and the last of them are live; each may be read after the size has changed. */
async function streamWhileResized(chance: Chance): Promise<{ found: string[]; expected: string[] }> {
  const stage = await startMoving(100);
  const { terminal } = stage;
  const expected: string[] = [];
  const line = (at: number) => `line ${at} ${"of the text ".repeat(6)}${at} ends`;
  for (let at = 0; at < 60; at++) {
    stage.live = [line(at + 1).slice(0, terminal.columns), "", "> |", "status"];
    const isLate = chance.between(0, 3) === 0;
    if (isLate) terminal.delay();
    expected.push(line(at));
    stage.screen.finish([line(at).slice(0, 200)]);
    stage.screen.renderNow();
    if (isLate) {
      await terminal.resize(chance.between(40, 120), 24);
      terminal.deliver();
      // The screen draws for the new size at once, or after it has settled.
      stage.screen.renderNow(true);
    }
    await terminal.flush();
  }
  stage.screen.isMoving = () => false;
  stage.live = ["> |"];
  await stage.draw();
  const text = stage.lines().join(" ").replace(/\s+/g, " ");
  stage.screen.stop();
  const found = text.match(/line \d+ (?:of the text )+\d+ ends/g) ?? [];
  return { found, expected: expected.map((each) => each.replace(/\s+/g, " ")) };
}

for (const seed of [1, 2, 3])
  test(`a frame that is read after a resize loses and duplicates no finished line (${seed})`, async () => {
    const { found, expected } = await streamWhileResized(new Chance(seed));
    expect(expected.filter((line) => !found.includes(line))).toEqual([]);
    expect(found.filter((line, at) => found.indexOf(line) !== at)).toEqual([]);
  });
