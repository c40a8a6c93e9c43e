import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SandboxActivity } from "../../src/infrastructure/process/sandbox-activity.ts";
import { ProtectedFileGuard } from "../../src/sandbox/protected-files/guard.ts";
import { makeTempDir } from "./temp-dir.ts";

/** A project whose control files are looked after as they are beside a box, with what "commands" do done by the test. */
export function makeKeptProject({
  maxDirectories,
  activity,
}: {
  maxDirectories?: number;
  activity?: SandboxActivity;
} = {}) {
  const top = makeTempDir();
  const [root, quarantine] = [join(top, "project"), join(top, "quarantine")];
  mkdirSync(root);
  const told: string[] = [];
  const keeper = new ProtectedFileGuard({
    ...{ roots: [root], gitDirectories: [], quarantine, notify: (message: string) => told.push(message) },
    activity,
    ...(maxDirectories !== undefined && { maxDirectories }),
  });
  const at = (path: string) => join(root, path);
  const put = (path: string, content = "original\n") => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  };
  const begin = () => keeper.begin(() => []);
  return {
    ...{ root, quarantine, told, keeper, at, put, begin },
    /** @returns what the model is told. */
    async run(command: () => void): Promise<string[]> {
      begin();
      command();
      const notes = keeper.finish(Promise.resolve());
      await Promise.resolve();
      return notes;
    },
    /** What a box would hold, from the project. */
    held: () => heldIn(begin, keeper, root),
    /** From the quarantine, without the directory of each look. */
    moved: () =>
      filesBelow(quarantine)
        .map((path) => path.slice(quarantine.length + 1).replace(/^[^/]+\//, ""))
        .toSorted(),
  };
}

function heldIn(
  begin: () => { files: ReadonlyMap<string, unknown> },
  keeper: ProtectedFileGuard,
  root: string,
) {
  const { files } = begin();
  keeper.abandon();
  return [...files.keys()].map((path) => path.slice(root.length + 1)).toSorted();
}

/** With empty directories; links are not followed. */
function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const isFull = lstatSync(path).isDirectory() && readdirSync(path).length > 0;
    return isFull ? filesBelow(path) : [path];
  });
}
