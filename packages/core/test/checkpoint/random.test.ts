import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { CheckpointPlace } from "../support/checkpoint-place.ts";
import { AS_PLAIN_USER, findPlainProcessObstacle } from "../support/plain-user.ts";
import { undoAtRandom } from "../support/random-undo.ts";
import { ONLY_ROOT_CAN, testUnless } from "../support/test-unless.ts";

// Each test has its own time, so that a machine with much else to do gets through all of them.
const TESTS = 25;
const SEEDS = 2;
const RUNS = 20;
const FIRST_SEED = 4000;

let place: CheckpointPlace;
afterEach(() => place.close());

describe("random runs", () => {
  for (let first = FIRST_SEED; first < FIRST_SEED + TESTS * SEEDS; first += SEEDS)
    test(`are undone and redone byte for byte: ${SEEDS * RUNS} from seed ${first} on`, async () => {
      for (let seed = first; seed < first + SEEDS; seed++) {
        place = new CheckpointPlace();
        await undoAtRandom(place, { seed, runs: RUNS });
        place.close();
      }
    });

  const script = join(import.meta.dir, "..", "support", "random-undo-process.ts");
  const obstacle = ONLY_ROOT_CAN ?? findPlainProcessObstacle(script);
  testUnless(obstacle)("are undone too for a user without some permissions", async () => {
    place = new CheckpointPlace();
    chmodSync(place.top, 0o777);
    const numbers = [FIRST_SEED, 12, RUNS].map(String);
    const child = Bun.spawn([...AS_PLAIN_USER, process.execPath, script, place.top, ...numbers], {
      env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
      stderr: "pipe",
    });
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
  });
});
