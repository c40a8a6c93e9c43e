import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunConditions } from "../../src/provider/types.ts";
import { readCalibration, saveCalibration } from "../../src/session/compaction/calibration.ts";
import { IMPROVISED_SERVICES, type ImprovisedService } from "../support/improvised-wire.ts";
import { type RunPlace, recordRun, replayRun } from "../support/recorded-run.ts";
import { makeTempDir } from "../support/temp-dir.ts";

/** A place where nothing was learned yet, or this of every model there is. */
function createPlace(ratio?: number) {
  const state = makeTempDir();
  const file = join(state, "diligent", "calibration.json");
  if (ratio !== undefined) {
    const ids = ["test/claude-test", "test/gpt-test", "test/open-test", "scripted/scripted/run.json"];
    const models = ids.map((id) => ({ id, ratio, samples: 20 }));
    mkdirSync(dirname(file));
    writeFileSync(file, JSON.stringify({ version: 1, models }), { mode: 0o600 });
  }
  return { environment: { XDG_STATE_HOME: state }, read: () => readFileSync(file, "utf8") };
}

interface Trial {
  seed: number;
  conditions?: RunConditions;
  recordedAt?: RunPlace;
  replayedAt?: RunPlace;
  replays?: number;
}

/** The lines of the recorded run, after replays that came to the same. */
async function recordAndReplay(service: ImprovisedService, trial: Trial): Promise<string> {
  const { seed, conditions, recordedAt = createPlace(), replayedAt = recordedAt, replays = 2 } = trial;
  const { path, lines } = await recordRun(service, { ...recordedAt, seed, conditions });
  for (let replay = 0; replay < replays; replay++) expect(await replayRun(path, replayedAt)).toEqual(lines);
  return lines.join("\n");
}

describe.each(Object.entries(IMPROVISED_SERVICES))(
  "a recorded run with %s replays to the same events",
  (_, service) => {
    test("for any reply: thinking, hidden thinking, blanks, mixed calls, failures, cuts, summaries", async () => {
      const all: string[] = [];
      for (const seed of [1, 4]) all.push(await recordAndReplay(service, { seed }));
      const lines = all.join("\n");
      const happened = ["compaction_end", '"code":"retry"', '"invalidInput"', "max_tokens", "thinking_delta"];
      expect(happened.filter((word) => !lines.includes(word))).toEqual([]);
    }, 60_000);

    test("also with other measurements and another configuration than at the recording", async () => {
      const [cold, dense] = [createPlace(), createPlace(1.2)];
      const elsewhere = { ...dense, compaction: { enabled: false } };
      const fresh = await recordAndReplay(service, {
        seed: 3,
        recordedAt: cold,
        replayedAt: elsewhere,
        replays: 3,
      });
      const conditions = { calibration: { ratio: 1.2, samples: 20 }, compaction: { reserveTokens: 2_500 } };
      const places = { recordedAt: dense, replayedAt: createPlace(), replays: 1 };
      const known = await recordAndReplay(service, { seed: 3, conditions, ...places });
      // That it makes no difference above says something: it does decide.
      expect(known).not.toBe(fresh);
    }, 60_000);
  },
);

test("a recorded run adds to the measurements of its model, and a replay adds nothing", async () => {
  const service = IMPROVISED_SERVICES.anthropic;
  if (!service) throw new Error("There is no such service.");
  const place = createPlace();
  const { path } = await recordRun(service, { ...place, seed: 3 });
  const learned = () => readCalibration(place.environment, "test/claude-test");
  while (!learned()) await Bun.sleep(1);
  await replayRun(path, place);
  // What is saved is saved one after the other: behind this hardly anything is to come.
  await saveCalibration(place.environment, "another/model", { ratio: 0.3, samples: 1 });
  const { models }: { models: { id: string }[] } = JSON.parse(place.read());
  expect(models.map(({ id }) => id)).toEqual(["test/claude-test", "another/model"]);
}, 60_000);
