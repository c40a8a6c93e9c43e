import { expect, test } from "bun:test";
import { holdLabelledRuns, rateRuns } from "../../support/labelled-runs.ts";
import { makeTempDir } from "../../support/temp-dir.ts";

test("nearly every claim without evidence is listed, and nearly nothing else", async () => {
  const { precision, recall, wrong } = rateRuns(await holdLabelledRuns(makeTempDir(), 800));
  expect([wrong, precision >= 95, recall >= 90]).toEqual([[], true, true]);
}, 60_000);
