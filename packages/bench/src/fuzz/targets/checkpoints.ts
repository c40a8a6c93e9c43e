import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCheckpoints } from "@diligent/core/light";
import fc from "fast-check";
import { createTarget } from "../create-target.ts";
import { anyDamage, applyDamage } from "../damage.ts";

const BEFORE = {
  "a.txt": "as it was\n",
  "b.txt": "b, as it was, with 日本語\n".repeat(40),
  "c.txt": "gone soon",
};
const AFTER = { "a.txt": "changed\n", "b.txt": "b, changed\n".repeat(30) };

type Tree = Readonly<Record<string, string>>;

/** Whatever is in the store of a session's checkpoints: what is taken back is what it was, or stays, and that is said. */
export const CHECKPOINT_FILES = createTarget({
  name: "checkpoint-files",
  about: "a damaged store of checkpoints gives back what was, or says that it cannot",
  runs: { usual: 2_000, short: 20 },
  values: fc.record({ file: fc.nat(), damages: anyDamage }),
  async findProblem({ file, damages }, makeDirectory) {
    const top = makeDirectory();
    const root = join(top, "project");
    const environment = { HOME: top };
    mkdirSync(root);
    writeTree(root, BEFORE);
    await change(root, environment);
    damageOne(join(top, ".local/state/diligent"), { file, damages });
    const told: string[] = [];
    const other = await openCheckpoints({ root, environment, sessionId: "two" });
    for (const isFirst of [true, false, true]) {
      await other.beforeChanges({ isFirst, notify: (_, code, text) => void told.push(`${code} ${text}`) });
      other.afterChanges();
      await other.settled();
    }
    const again = await openCheckpoints({ root, environment, sessionId: "one" });
    const failure = await again.undo().then(
      (done) => done?.failures.map(({ reason }) => reason).join(),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    for (const each of [other, again]) each.close();
    const strange = Object.entries(readTree(root)).find(([name, text]) => !isKnown(name, text));
    if (strange !== undefined) return `${strange.join(" became ")} (${failure ?? "without a word"})`;
    return new Set(told).size === told.length ? undefined : `said twice: ${told.join("; ")}`;
  },
});

/** A run of the agent that changes two files and takes one away. */
async function change(root: string, environment: { HOME: string }): Promise<void> {
  const checkpoints = await openCheckpoints({ root, environment, sessionId: "one" });
  await checkpoints.beforeChanges({ isFirst: true, notify: () => undefined });
  writeTree(root, AFTER);
  await Bun.file(join(root, "c.txt")).delete();
  checkpoints.afterChanges();
  await checkpoints.settled();
  checkpoints.close();
}

function damageOne(
  store: string,
  { file, damages }: { file: number; damages: Parameters<typeof applyDamage>[1] },
) {
  const files = readdirSync(store, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const path = files[file % Math.max(1, files.length)];
  if (path === undefined) throw new Error("Nothing was kept.");
  writeFileSync(path, applyDamage(readFileSync(path), damages));
}

function isKnown(name: string, text: string): boolean {
  return [BEFORE, AFTER].some((tree: Tree) => tree[name] === text);
}

function readTree(root: string): Tree {
  return Object.fromEntries(readdirSync(root).map((name) => [name, readFileSync(join(root, name), "utf8")]));
}

function writeTree(root: string, tree: Tree): void {
  for (const [name, text] of Object.entries(tree)) writeFileSync(join(root, name), text);
}
