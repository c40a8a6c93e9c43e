import { expect, test } from "bun:test";
import { ScreenStage } from "../../support/screen-stage.ts";

const EDITOR = ["────", "> hello|", "────"];

/** The output when an answer grows by a word and by a finished line, below this many finished rows. */
async function growBelow(rows: number): Promise<string[]> {
  const stage = new ScreenStage({ columns: 40, rows: 10 });
  await stage.start("the answer", ...EDITOR);
  await stage.draw(...Array.from({ length: rows }, (_, index) => `finished row ${index}`));
  stage.live = ["the answer grows", ...EDITOR];
  const word = await stage.draw();
  stage.live = ["and on", ...EDITOR];
  return [word, await stage.draw("the answer grows")];
}

test("a frame below 5,000 rows has the same output as below twenty", async () => {
  const [few, many] = [await growBelow(20), await growBelow(5_000)];
  expect(many).toEqual(few);
  expect(many.join("")).not.toContain("finished row");
});
