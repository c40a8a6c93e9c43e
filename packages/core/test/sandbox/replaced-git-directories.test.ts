import { afterEach, describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { makeCutOff } from "../support/cut-off-session.ts";
import { makeKeptProject } from "../support/kept-project.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

type Place = ReturnType<typeof makeKeptProject>;

function makeNested(): Place {
  const place = makeKeptProject();
  for (const path of [".git/config", ".git/HEAD", "lib/.git/config", "lib/.git/HEAD"]) place.put(path);
  mkdirSync(place.at("node_modules"));
  return place;
}

/** As `mv` and `echo` in a box, or outside it. */
function exchange({ at, put }: Place, path: string): void {
  renameSync(at(path), at("node_modules/old"));
  put(path, "gitdir: ../node_modules/evil\n");
}

describe("a git directory that is not mounted in place", () => {
  test("is not replaced by a file that leads elsewhere", async () => {
    const place = makeNested();
    const notes = await place.run(() => exchange(place, "lib/.git"));
    expect(place.moved()).toEqual(["lib/.git"]);
    expect(notes).toEqual([expect.stringContaining("lib/.git was moved to")]);
    expect(place.told).toEqual([
      expect.stringContaining(
        "lib/.git, which controls other programs, appeared while a command ran. It was",
      ),
    ]);
  });

  test("is not replaced by a link or another directory", async () => {
    for (const replace of [
      ({ at }: Place) => symlinkSync("../node_modules/old", at("lib/.git")),
      ({ put }: Place) => put("lib/.git/info/exclude", "CANARY\n"),
    ]) {
      const place = makeNested();
      await place.run(() => {
        renameSync(place.at("lib/.git"), place.at("node_modules/old"));
        replace(place);
      });
      expect(lstatSync(place.at("lib/.git"), { throwIfNoEntry: false })).toBeUndefined();
    }
  });

  test("is not replaced by a file that reuses its inode number", async () => {
    const place = makeKeptProject();
    mkdirSync(place.at("lib/.git"), { recursive: true });
    await place.run(() => {
      rmdirSync(place.at("lib/.git"));
      place.put("lib/.git", "gitdir: ../node_modules/evil\n");
    });
    expect(place.moved()).toEqual(["lib/.git"]);
  });

  test("directly in the project is one that was created while something ran", async () => {
    const place = makeKeptProject();
    const running = Promise.withResolvers<void>();
    place.keeper.begin(() => [place.at(".git/config")]);
    place.put(".git/config");
    place.keeper.finish(running.promise);
    place.begin();
    renameSync(place.at(".git"), place.at("old"));
    place.put(".git", "gitdir: old\n");
    place.keeper.begin(() => []);
    expect(place.moved()).toContain(".git");
    running.resolve();
    await running.promise;
  });

  test("is not replaced by commands of a killed session", () => {
    const place = makeNested();
    const { tidy } = makeCutOff(place, () => exchange(place, "lib/.git"));
    expect([tidy(), place.moved()]).toEqual([true, ["lib/.git"]]);
  });
});

describe.skipIf(problem !== undefined)("a git directory further down in a project", () => {
  test("cannot be replaced from a sandbox so that git runs what a command wrote", async () => {
    const place = await makeBoxedProject({
      prepare: ({ root }) => expect(Bun.spawnSync(["git", "init", "-q", join(root, "lib")]).exitCode).toBe(0),
    });
    await place.run(`mkdir -p node_modules; cp -r lib/.git node_modules/evil
      printf '\\tfsmonitor = "touch ${place.top}/canary; false"\\n\\tworktree = ../../lib\\n' >> node_modules/evil/config
      mv lib/.git node_modules/old; echo "gitdir: ../node_modules/evil" > lib/.git`);
    expect(place.text("project/node_modules/evil/config")).toContain("fsmonitor");
    const ceiling = { ...process.env, GIT_CEILING_DIRECTORIES: place.top };
    Bun.spawnSync(["git", "status"], { cwd: join(place.root, "lib"), env: ceiling });
    expect([place.text("canary"), place.text("project/lib/.git")]).toEqual([undefined, undefined]);
  });
});

describe("the project's own git directory", () => {
  test("stays if somebody outside has replaced it, which both are told about", async () => {
    const place = makeNested();
    const notes = await place.run(() => exchange(place, ".git"));
    const line = ".git was replaced from outside while the command ran";
    expect([place.moved(), notes, place.told]).toEqual([[], [line], [line]]);
    expect(readFileSync(place.at(".git"), "utf8")).toStartWith("gitdir: ");
  });

  test("stays if somebody outside replaced it before a session was killed", () => {
    const place = makeNested();
    const { tidy } = makeCutOff(place, () => exchange(place, ".git"));
    expect([tidy(), place.moved()]).toEqual([true, []]);
  });
});

test("many files that somebody outside has replaced are reported in one line", async () => {
  const place = makeKeptProject();
  const paths = ["a", "b", "c", "d", "e", "f", "g"].map((name) => `${name}/CLAUDE.md`);
  for (const path of paths) place.put(path);
  await place.run(() => {
    for (const path of paths) {
      writeFileSync(place.at("new"), "mine\n");
      renameSync(place.at("new"), place.at(path));
    }
  });
  expect(place.moved()).toEqual([]);
  expect(place.told).toEqual([
    "a/CLAUDE.md, b/CLAUDE.md, c/CLAUDE.md, d/CLAUDE.md, e/CLAUDE.md and 2 more were replaced from outside while the command ran",
  ]);
});
