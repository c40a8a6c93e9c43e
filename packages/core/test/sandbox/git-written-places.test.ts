import { afterEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { ProtectedFileScanner } from "../../src/sandbox/protected-files/scan.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { makeKeptProject } from "../support/kept-project.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

/** A kept project with a repository, a submodule and a repository without a tree. */
function makeRepository() {
  const place = makeKeptProject();
  for (const repository of [".git", ".git/modules/sub", "bare"]) {
    for (const name of ["objects/12", "refs/heads", "logs/refs/heads", "info", "branches", "hooks"])
      mkdirSync(place.at(`${repository}/${name}`), { recursive: true });
    for (const name of ["HEAD", "config", "logs/HEAD", "refs/heads/main", "info/exclude", "COMMIT_EDITMSG"])
      place.put(`${repository}/${name}`);
  }
  const link = (path: string, target = "../../victim") => {
    rmSync(place.at(path), { recursive: true, force: true });
    mkdirSync(dirname(place.at(path)), { recursive: true });
    symlinkSync(target, place.at(path));
  };
  return { ...place, link };
}

describe("a link at a path that git writes", () => {
  const PLACES = [
    ...[".git/COMMIT_EDITMSG", ".git/logs/HEAD", ".git/logs/refs/heads/main", ".git/logs", ".git/refs"],
    ...[".git/objects", ".git/info", ".git/info/sparse-checkout", ".git/lfs", ".git/packed-refs"],
    ...[
      ".git/refs/heads/a/b/c",
      ".git/HEAD",
      ".git/rebase-merge/done",
      ".git/objects/info/commit-graph",
      ".git/objects/pack/multi-pack-index",
      ".git/rr-cache/12/preimage",
      ".git/modules/sub/logs/HEAD",
    ],
    ...["bare/logs/HEAD", "bare/COMMIT_EDITMSG"],
  ];
  for (const path of PLACES) {
    test(`is moved away if a command creates it: ${path}`, async () => {
      const place = makeRepository();
      await place.run(() => place.link(path));
      expect(place.moved()).toEqual([path]);
    });
  }

  test("stays if it existed before, and so does its target", async () => {
    const place = makeRepository();
    mkdirSync(place.at("kept"));
    place.link(".git/HEAD", "../kept/head");
    place.link(".git/logs", "../kept");
    await place.run(() => place.put("kept/HEAD", "more\n"));
    expect([readlinkSync(place.at(".git/HEAD")), readlinkSync(place.at(".git/logs"))]).toEqual([
      "../kept/head",
      "../kept",
    ]);
    expect(place.moved()).toEqual([]);
    expect(place.held()).not.toContain("kept");
  });

  test("is restored if a command removes or redirects it", async () => {
    const place = makeRepository();
    for (const name of ["logs/HEAD", "packed-refs"]) place.link(`.git/${name}`, "../kept");
    await place.run(() => {
      rmSync(place.at(".git/logs/HEAD"));
      place.link(".git/packed-refs");
    });
    const targets = ["logs/HEAD", "packed-refs"].map((name) => readlinkSync(place.at(`.git/${name}`)));
    expect(targets).toEqual(["../kept", "../kept"]);
  });

  test("does not include a HEAD that names a branch, or an editor's lock", async () => {
    const place = makeRepository();
    place.link(".git/HEAD", "refs/heads/main");
    await place.run(() => {
      place.link(".git/HEAD", "refs/heads/other");
      place.link(".git/.#COMMIT_EDITMSG", "me@host.12:34");
    });
    expect([readlinkSync(place.at(".git/HEAD")), place.moved()]).toEqual(["refs/heads/other", []]);
    await place.run(() => place.link(".git/HEAD", "refs/../../../victim"));
    expect(place.moved()).toEqual([".git/HEAD"]);
  });

  test("is found in a directory that cannot be listed", async () => {
    const place = makeRepository();
    await place.run(() => {
      place.link(".git/logs/refs/heads/x");
      chmodSync(place.at(".git/logs/refs/heads"), 0o300);
    });
    expect(place.moved()).toEqual([".git/logs/refs/heads/x"]);
  });

  test("is found if its directory is made to look like a repository", () => {
    const place = makeRepository();
    rmSync(place.at(".git/modules/sub/refs/heads/main"));
    place.link(".git/modules/sub/refs/heads/main");
    place.put(".git/modules/sub/refs/config");
    expect(place.held()).toContain(".git/modules/sub/refs/heads/main");
    expect(place.held()).toContain(".git/modules/sub/refs/config");
  });

  test("lets nothing run while there are too many directories to search for it", () => {
    const root = makeTempDir();
    for (const name of ["a", "b", "c"]) mkdirSync(join(root, ".git/refs", name), { recursive: true });
    const isComplete = (maxDirectories: number) =>
      new ProtectedFileScanner({ roots: [root], maxDirectories }).scan().isComplete;
    expect([isComplete(5), isComplete(4)]).toEqual([true, false]);
  });
});

describe("a file that tells git where to push and what to filter with", () => {
  for (const path of [".git/remotes/origin", ".git/branches/origin", ".git/info/attributes"]) {
    test(`is moved away if a command creates it: ${path}`, async () => {
      const place = makeRepository();
      await place.run(() => place.put(path));
      expect(place.moved()).toEqual([path]);
    });

    test(`is protected if it existed before: ${path}`, () => {
      const place = makeRepository();
      place.put(path);
      const held = path.replace("remotes/origin", "remotes");
      expect(place.held()).toContain(held);
    });
  }

  test("does not include what git itself creates in a repository", async () => {
    const place = makeRepository();
    rmSync(place.at(".git/branches"), { recursive: true });
    rmSync(place.at(".git/info"), { recursive: true });
    await place.run(() => {
      mkdirSync(place.at(".git/branches"));
      place.put(".git/info/exclude");
    });
    expect(place.moved()).toEqual([]);
  });

  test("is not followed behind a link", async () => {
    const place = makeRepository();
    place.put("kept/attributes");
    await place.run(() => place.link(".git/info", "../kept"));
    expect([place.moved(), lstatSync(place.at("kept/attributes")).isFile()]).toEqual([[".git/info"], true]);
  });

  test("is moved away if its directory is replaced", async () => {
    const place = makeRepository();
    await place.run(() => {
      place.put("other/attributes");
      renameSync(place.at(".git/info"), place.at("before"));
      renameSync(place.at("other"), place.at(".git/info"));
    });
    expect(place.moved()).toEqual([".git/info/attributes"]);
  });
});

test("is protected if the settings of a repository elsewhere name it", () => {
  const top = makeTempDir();
  const [root, common] = [join(top, "tree"), join(top, "main/.git")];
  const gitDirectory = join(common, "worktrees/tree");
  for (const path of [root, gitDirectory, join(common, "myhooks")]) mkdirSync(path, { recursive: true });
  const settings = `[include]\n\tpath = extra.cfg\n\tpath = ../beside\n[core]\n\thooksPath = ${common}/myhooks\n`;
  writeFileSync(join(common, "config"), settings);
  for (const name of ["extra.cfg", "../beside"]) writeFileSync(join(common, name), "");
  const { files } = new ProtectedFileScanner({
    roots: [root],
    gitDirectories: [common, gitDirectory],
  }).scan();
  expect([...files.keys()].sort()).toEqual(
    ["config", "extra.cfg", "myhooks"].map((name) => join(common, name)),
  );
});

describe.skipIf(problem !== undefined)("links in a repository that a command has created", () => {
  test("do not redirect the user's next actions out of the project", async () => {
    let git = (..._words: string[]): void => {};
    const place = await makeBoxedProject({
      prepare({ root, home }) {
        const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
        git = (...words) => {
          const { success, stderr } = Bun.spawnSync(["git", ...words], { cwd: root, env });
          if (!success) throw new Error(stderr.toString());
        };
        git("init", "-q");
        git("commit", "-qm", "first", "--allow-empty");
        for (const name of [".bashrc", "victim"]) writeFileSync(join(home, name), "original\n");
      },
    });
    const link = (name: string, target: string) =>
      `rm .git/${name}; ln -s ${place.home}/${target} .git/${name}`;
    await place.run(`${link("logs/HEAD", ".bashrc")}; ${link("COMMIT_EDITMSG", "victim")}`);
    git("checkout", "-qb", "side");
    git("commit", "-qm", "second", "--allow-empty");
    expect([place.text("home/.bashrc"), place.text("home/victim")]).toEqual(["original\n", "original\n"]);
  });
});
