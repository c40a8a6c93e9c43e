import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { createTarget } from "../create-target.ts";
import { anyDamage, applyDamage } from "../damage.ts";
import { STORES } from "../stores/stores.ts";

const anyText = fc.oneof(
  fc.constantFrom("", "null", "[]", "{}", "7", '"a"', "\uFEFF{}", "{\n", '{"version":2}', "[".repeat(5_000)),
  fc.json(),
);

/** Whatever is in a file that we keep beside sessions: nothing crashes, and what cannot be used is said once. */
export const STORE_FILES = createTarget({
  name: "store-files",
  about: "damaged key bindings, knowledge, trust, grants, history: no crash, said once, not written over",
  runs: { usual: 20_000, short: 200 },
  values: fc.record({
    store: fc.constantFrom(...STORES.map(({ name }) => name)),
    damages: anyDamage,
    instead: fc.option(anyText, { freq: 4, nil: undefined }),
  }),
  async findProblem({ store: wanted, damages, instead }, makeDirectory) {
    const store = STORES.find(({ name }) => name === wanted);
    if (!store) throw new Error(`There is no ${wanted}.`);
    const home = makeDirectory();
    const project = join(home, "project");
    mkdirSync(project);
    const path = store.path({ home, project });
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const bytes =
      instead === undefined ? applyDamage(Buffer.from(store.content), damages) : Buffer.from(instead);
    writeFileSync(path, bytes, { mode: 0o600 });
    const problem = await store.check({ home, project }, path);
    return problem === undefined ? undefined : `${store.name}: ${problem}`;
  },
});
