import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSearchLocation, searchSteadily } from "../../src/tools/search/search-scope.ts";
import { makeTempDir } from "../support/temp-dir.ts";

// Longer than the clock of a file system lags behind.
const LONG_AGO_MS = 80;

/** A directory with `sub/deep/a.txt` and `b.txt` in it, made long enough ago. */
async function makeDirectory(): Promise<string> {
  const root = makeTempDir();
  mkdirSync(join(root, "sub", "deep"), { recursive: true });
  for (const name of ["sub/deep/a.txt", "b.txt"]) writeFileSync(join(root, name), "");
  await Bun.sleep(LONG_AGO_MS);
  return root;
}

const FOUND = ["sub/deep/a.txt", "b.txt"];

/** What becomes of what a search found during which `meanwhile` happened. */
async function searchWhile(root: string, meanwhile: (round: number) => void) {
  using place = openSearchLocation({ path: root, realPath: root, isDirectory: true });
  let rounds = 0;
  const { isSteady } = await searchSteadily(place, {
    run: async () => {
      meanwhile(++rounds);
      return FOUND;
    },
    filesOf: (found) => found,
  });
  return { rounds, steady: FOUND.filter(isSteady) };
}

function swapThereAndBack(directory: string, target: string): void {
  renameSync(directory, `${directory}-aside`);
  symlinkSync(target, directory);
  unlinkSync(directory);
  renameSync(`${directory}-aside`, directory);
}

test("an unchanged directory is searched once", async () => {
  const root = await makeDirectory();
  expect(await searchWhile(root, () => {})).toEqual({ rounds: 1, steady: FOUND });
});

test("files that are created and removed elsewhere make no difference", async () => {
  const root = await makeDirectory();
  const touch = (round: number) => {
    writeFileSync(join(root, `new-${round}`), "");
    appendFileSync(join(root, `log`), "more");
  };
  expect(await searchWhile(root, touch)).toEqual({ rounds: 1, steady: FOUND });
});

test("a file that was touched once is searched again, and counts", async () => {
  const root = await makeDirectory();
  const touch = (round: number) => {
    if (round === 1) writeFileSync(join(root, "sub", "deep", "new"), "");
  };
  expect(await searchWhile(root, touch)).toEqual({ rounds: 2, steady: FOUND });
});

for (const directory of ["sub", "sub/deep"]) {
  test(`the contents of ${directory} do not count while it is replaced by a link, even if it is restored afterwards`, async () => {
    const root = await makeDirectory();
    const swap = () => swapThereAndBack(join(root, directory), `${root}-outside`);
    expect(await searchWhile(root, swap)).toEqual({ rounds: 3, steady: ["b.txt"] });
  });
}

test("a file that is replaced by a link does not count", async () => {
  const root = await makeDirectory();
  const swap = () => swapThereAndBack(join(root, "b.txt"), "/etc/hosts");
  expect(await searchWhile(root, swap)).toEqual({ rounds: 3, steady: ["sub/deep/a.txt"] });
});

test("a path that is a link at the end does not count", async () => {
  const root = await makeDirectory();
  const swap = (round: number) => {
    if (round > 1) return;
    renameSync(join(root, "sub"), join(root, "aside"));
    symlinkSync(join(root, "aside"), join(root, "sub"));
  };
  expect(await searchWhile(root, swap)).toEqual({ rounds: 3, steady: ["b.txt"] });
});
