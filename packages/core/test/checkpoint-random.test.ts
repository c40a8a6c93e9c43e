import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { CheckpointPlace } from "./support/checkpoint-place.ts";
import { undoAtRandom } from "./support/random-undo.ts";

// Each test has its own time, so that a machine with much else to do gets through all of them.
const TESTS = 10;
const SEEDS = 5;
const RUNS = 20;
const FIRST_SEED = 4000;

let place: CheckpointPlace;
afterEach(() => place.close());

describe("random runs", () => {
  for (let first = FIRST_SEED; first < FIRST_SEED + TESTS * SEEDS; first += SEEDS)
    test(`are taken back and brought back byte for byte: ${SEEDS * RUNS} from seed ${first} on`, async () => {
      for (let seed = first; seed < first + SEEDS; seed++) {
        place = new CheckpointPlace();
        await undoAtRandom(place, { seed, runs: RUNS });
        place.close();
      }
    });

  const isRoot = process.getuid?.() === 0;
  test.if(isRoot)("are so too for a user whom permissions stand in the way", async () => {
    place = new CheckpointPlace();
    const script = new URL("./support/random-undo-process.ts", import.meta.url).pathname;
    const user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    chmodSync(place.top, 0o777);
    const numbers = [FIRST_SEED, 12, RUNS].map(String);
    const child = Bun.spawn([...user, process.execPath, script, place.top, ...numbers], {
      env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
      stderr: "pipe",
    });
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
  });
});
