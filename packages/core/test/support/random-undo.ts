import type { Checkpoints } from "../../src/checkpoint/checkpoints.ts";
import { Chance, changeSomething } from "./random-tree.ts";
import { describeTree } from "./tree-bytes.ts";

interface Place {
  root: string;
  open(): Checkpoints;
  run(checkpoints: Checkpoints, ...calls: (() => void)[]): Promise<void>;
}

/** Random runs in a random tree, taken back and brought back now and then, and all of them in the end. */
export async function undoAtRandom(
  place: Place,
  { seed, runs }: { seed: number; runs: number },
): Promise<void> {
  const chance = new Chance(seed);
  for (let count = 0; count < 12; count++) changeSomething(place.root, chance);
  const checkpoints = place.open();
  void checkpoints.prepare();
  const states = [describeTree(place.root)];
  const expectState = (position: number, what: string) =>
    assertSame(describeTree(place.root), states[position] ?? [], `seed ${seed}, ${what}`);
  for (let run = 0; run < runs; run++) {
    const calls = Array.from({ length: 1 + chance.below(3) }, () => () => {
      for (let count = chance.below(5); count >= 0; count--) changeSomething(place.root, chance);
    });
    await place.run(checkpoints, ...calls);
    const state = describeTree(place.root);
    if (state.join("\n") !== states.at(-1)?.join("\n")) states.push(state);
    if (chance.below(3) > 0) continue;
    let position = states.length - 1;
    for (let steps = chance.below(3); steps >= 0 && position > 0; steps--) {
      assertClean(await checkpoints.undo(), seed);
      position--;
      expectState(position, `run ${run} taken back`);
    }
    while (position < states.length - 1 && chance.below(3) > 0) {
      assertClean(await checkpoints.redo(), seed);
      position++;
      expectState(position, `run ${run} brought back`);
    }
    states.length = position + 1;
  }
  for (let position = states.length - 2; position >= 0; position--) {
    assertClean(await checkpoints.undo(), seed);
    expectState(position, "at the end");
  }
  if (await checkpoints.undo()) throw new Error(`seed ${seed}: there was more to take back`);
}

function assertClean(restoration: Awaited<ReturnType<Checkpoints["undo"]>>, seed: number): void {
  const { conflicts, notKept, failures } = restoration ?? { conflicts: ["none"], notKept: [], failures: [] };
  if (conflicts.length + notKept.length + failures.length > 0)
    throw new Error(`seed ${seed}: ${JSON.stringify({ conflicts, notKept, failures })}`);
}

function assertSame(found: readonly string[], expected: readonly string[], what: string): void {
  const more = found.filter((line) => !expected.includes(line));
  const less = expected.filter((line) => !found.includes(line));
  if (more.length + less.length > 0) throw new Error(`${what}: ${JSON.stringify({ more, less })}`);
}
