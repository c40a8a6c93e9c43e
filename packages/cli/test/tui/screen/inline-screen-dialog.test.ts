import { expect, test } from "bun:test";
import { Chance } from "../../support/chance.ts";
import { ScreenStage } from "../../support/screen-stage.ts";

test("a dialog that hides the cursor leaves nothing behind, however small the screen gets and how often", async () => {
  for (let seed = 0; seed < 30; seed++) {
    const chance = new Chance(seed);
    const before = Array.from({ length: chance.between(0, 60) }, (_, at) => `shell ${at}`);
    const stage = new ScreenStage({ columns: 80, rows: chance.between(10, 30), before });
    const drawDialog = () => {
      const { rows } = stage.terminal;
      stage.live = [
        "",
        ...Array.from({ length: Math.min(16, rows - 1) }, (_, at) => `choice ${at} of ${rows}`),
      ];
    };
    drawDialog();
    await stage.start(...stage.live);
    for (let step = 0; step < 8; step++) {
      await stage.terminal.resize(80, chance.between(3, 40));
      drawDialog();
      await stage.draw();
      await stage.draw();
      expect(stage.lines(), `seed ${seed}, step ${step}`).toEqual([...before, ...stage.live]);
    }
    stage.screen.stop();
  }
});
