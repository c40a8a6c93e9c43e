/** Run as a process of its own, by whichever user: DIRECTORY FIRST_SEED SEEDS RUNS. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Checkpoints } from "../../src/checkpoint/checkpoints.ts";
import { undoAtRandom } from "./random-undo.ts";

const [directory = "", ...numbers] = process.argv.slice(2);
const [first = 0, count = 0, runs = 0] = numbers.map(Number);
for (let seed = first; seed < first + count; seed++) {
  const top = join(directory, String(seed));
  const root = join(top, "project");
  mkdirSync(root, { recursive: true });
  const environment = { HOME: join(top, "home"), XDG_STATE_HOME: join(top, "state") };
  const place = {
    root,
    open: () => new Checkpoints({ root, environment, sessionId: "one" }),
    async run(checkpoints: Checkpoints, ...calls: (() => void)[]) {
      for (const [index, call] of calls.entries()) {
        await checkpoints.beforeChanges({ isFirst: index === 0, notify() {} });
        call();
        checkpoints.afterChanges();
      }
      await checkpoints.settled();
    },
  };
  await undoAtRandom(place, { seed, runs });
}
