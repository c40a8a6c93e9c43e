import { afterEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { readGitPathSettings } from "../../src/infrastructure/paths/git-settings.ts";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { runCommand } from "../../src/infrastructure/process/run.ts";
import { ProtectedFileScanner } from "../../src/sandbox/protected-files/scan.ts";
import { type BoxedProject, findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

/** As much of a repository as git asks for. */
function makeGitDirectory(path: string): void {
  for (const name of ["objects", "refs", "hooks"]) mkdirSync(join(path, name), { recursive: true });
  writeFileSync(join(path, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(path, "config"), "original\n");
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** A project with a repository; what `more` names are git directories as well. */
function makeRepository(...more: string[]): Promise<BoxedProject> {
  return makeBoxedProject({
    prepare: ({ root, home }) => {
      for (const path of [".git", ...more]) makeGitDirectory(join(root, path));
      mkdirSync(join(home, "work"));
      writeFileSync(join(home, "work", "notes"), "original\n");
    },
  });
}

const REACH = "echo CANARY > ~/canary; echo CANARY > ~/work/notes; echo CANARY > ../session/canary";

describe.skipIf(problem !== undefined)("a link in place of a directory that contains repositories", () => {
  for (const name of ["worktrees", "modules"]) {
    test(`opens nothing outside if it exists before the first command: ${name}`, async () => {
      const place = await makeBoxedProject({
        prepare({ root, home }) {
          makeGitDirectory(join(root, ".git"));
          symlinkSync("../..", join(root, ".git", name));
          mkdirSync(join(home, "work"));
          writeFileSync(join(home, ".bashrc"), "original\n");
        },
      });
      await place.run(`${REACH}; echo CANARY >> ~/.bashrc`);
      const paths = ["home/canary", "home/work/notes", "session/canary", "home/.bashrc"];
      expect(paths.map(place.text)).toEqual([undefined, undefined, undefined, "original\n"]);
    });

    test(`is moved away if a command creates it: ${name}`, async () => {
      const place = await makeRepository();
      const { output } = await place.run(`ln -s ../.. .git/${name}`);
      expect(output).toContain(`.git/${name} was moved to`);
      expect(isThere(place.at(`project/.git/${name}`))).toBe(false);
      await place.run(REACH);
      expect(place.text("home/work/notes")).toBe("original\n");
    });
  }

  test("is moved away if it leads to a directory that is not scanned", async () => {
    const place = await makeRepository(".git/modules/held/sub");
    const plant = "mkdir -p node_modules/evil && echo CANARY > node_modules/evil/config";
    await place.run(`${plant}; ln -s ../../node_modules .git/modules/new`);
    expect(isThere(place.at("project/.git/modules/new"))).toBe(false);
    const { output } = await place.run("mv .git/modules .git/m; ln -s ../node_modules .git/modules");
    expect(output).toContain(".git/modules was moved to");
    expect(isThere(place.at("project/.git/modules"))).toBe(false);
  });

  test("is moved away if a repository inside was renamed for it", async () => {
    const place = await makeRepository("lib/.git");
    const plant = "mkdir -p evil && cp -r lib/.git/. evil && echo CANARY >> evil/config";
    const { output } = await place.run(`${plant}; mv lib/.git lib/g; ln -s ../evil lib/.git`);
    expect(output).toContain("lib/.git was moved to");
    expect(isThere(place.at("project/lib/.git"))).toBe(false);
    expect(place.text("project/lib/g/config")).toBe("original\n");
  });

  test("is restored if it was the user's", async () => {
    const place = await makeBoxedProject({
      prepare({ root }) {
        makeGitDirectory(join(root, ".git"));
        makeGitDirectory(join(root, "kept/sub"));
        symlinkSync("../kept", join(root, ".git/modules"));
      },
    });
    await place.run("rm .git/modules; echo CANARY > kept/sub/config");
    expect(readlinkSync(place.at("project/.git/modules"))).toBe("../kept");
    expect(place.text("project/kept/sub/config")).toBe("original\n");
  });
});

describe.skipIf(problem !== undefined)("between the scan of a project and the start of a sandbox", () => {
  /** Runs a command for which everything was planned when `exchange` is called. */
  async function runAfter(place: BoxedProject, exchange: () => void, command: string) {
    const enclosed = await place.box.wrapCommand({
      argv: ["/bin/sh", "-c", command],
      cwd: place.root,
      environment: { PATH: process.env.PATH ?? "", HOME: place.home },
    });
    exchange();
    const signal = new AbortController().signal;
    await runCommand({ ...enclosed, cwd: place.root, timeoutMs: 20_000, signal, onOutput() {} });
  }

  function exchange(place: BoxedProject, name: string, target: string): void {
    const path = join(place.root, name);
    renameSync(path, `${path}-before`);
    // From one that begins at the top, bubblewrap is not led astray.
    symlinkSync(relative(dirname(path), target), path);
  }

  const PLACES: Readonly<Record<string, [gitDirectory: string, exchanged: string]>> = {
    "the worktrees' directory": [".git/worktrees/work", ".git/worktrees"],
    "a worktree's directory": [".git/worktrees/work", ".git/worktrees/work"],
    "the submodules' directory": [".git/modules/work", ".git/modules"],
    "the directory of a repository inside": ["lib/work", "lib"],
  };
  for (const [name, [gitDirectory, exchanged]] of Object.entries(PLACES)) {
    test(`a link in place of ${name} opens nothing`, async () => {
      const place = await makeRepository(gitDirectory);
      // What the link leads to looks just as what it stands for.
      const isLast = exchanged === gitDirectory;
      for (const file of ["config", "HEAD"]) place.put(`home/work/${file}`);
      const target = isLast ? place.at("home/work") : place.home;
      await runAfter(place, () => exchange(place, exchanged, target), REACH);
      expect([place.text("home/work/notes"), place.text("home/canary")]).toEqual(["original\n", undefined]);
    });
  }

  test("a link in place of the project itself lets nothing run", async () => {
    const place = await makeRepository();
    const [root, aside] = [place.root, `${place.root}-before`];
    renameSync(root, aside);
    symlinkSync(place.home, root);
    const enclosing = place.box.wrapCommand({ argv: ["/bin/sh"], cwd: root, environment: {} });
    await expect(enclosing).rejects.toThrow(`${root} is now a link, or is reached through one`);
  });
});

describe.skipIf(problem !== undefined)("the settings of a submodule cannot be changed", () => {
  const DEEP = ".git/modules/a/b/c/d/e/f/g/h";
  const CASES: Readonly<Record<string, [gitDirectory: string, before: string]>> = {
    "however deep its name is": [DEEP, "true"],
    "when what is around it looks like a repository": [
      ".git/modules/a/b",
      "mkdir .git/modules/a/objects .git/modules/a/refs; echo x > .git/modules/a/HEAD; echo x > .git/modules/HEAD",
    ],
    "when it is called like a part of a repository": [".git/modules/a/refs", "echo x > .git/modules/a/HEAD"],
    "when it belongs to a worktree": [".git/worktrees/tree/modules/sub", "true"],
    "when its worktree's are meant": [".git/modules/sub/worktrees/tree", "true"],
  };
  for (const [name, [gitDirectory, before]] of Object.entries(CASES)) {
    test(name, async () => {
      const place = await makeRepository(gitDirectory);
      await place.run(before);
      const { output } = await place.run(`echo CANARY > ${gitDirectory}/config`);
      expect(output).toContain("Read-only file system");
      expect(place.text(`project/${gitDirectory}/config`)).toBe("original\n");
    });
  }

  test("by creating more worktrees than can be scanned", async () => {
    const place = await makeRepository(".git/modules/sub");
    await place.run("mkdir -p .git/worktrees; cd .git/worktrees; mkdir $(seq 150)");
    await expect(place.run("echo CANARY > .git/modules/sub/config")).rejects.toThrow("too many directories");
    await place.run("rm -rf .git/worktrees", { outside: true });
    await place.run("true");
    expect(place.text("project/.git/modules/sub/config")).toBe("original\n");
  });
});

/** Runs git beside the box, as the user does. */
function git(cwd: string, home: string, ...words: string[]): void {
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const run = Bun.spawnSync(["git", "-c", "protocol.file.allow=always", ...words], { cwd, env });
  if (!run.success) throw new Error(run.stderr.toString());
}

describe.skipIf(problem !== undefined)("everyday work", () => {
  const COMMIT = "date +%N >> made && git add made && git commit -qm made";

  function addAll(root: string, home: string): void {
    mkdirSync(join(home, "source"));
    for (const directory of [join(home, "source"), root]) {
      git(directory, home, "init", "-q");
      git(directory, home, "commit", "-qm", "first", "--allow-empty");
    }
    git(root, home, "submodule", "add", "-q", join(home, "source"), "deep/sub");
    git(root, home, "worktree", "add", "-q", "tree");
    git(root, home, "commit", "-qm", "all");
    mkdirSync(join(root, "lib"));
    git(join(root, "lib"), home, "init", "-q");
  }

  test("works in a submodule, a worktree and a nested repository, with a background process", async () => {
    const place = await makeBoxedProject({ prepare: ({ root, home }) => addAll(root, home) });
    for (const background of ["", "sleep 60 > /dev/null 2>&1 &"])
      for (const directory of [".", "deep/sub", "tree", "lib"]) {
        const { output, isError } = await place.run(
          `cd ${directory} && ${COMMIT} && git log --oneline | wc -l; ${background}`,
        );
        expect([directory, isError, output]).toEqual([
          directory,
          false,
          expect.stringMatching(/^\d+(?:\n\[|$)/),
        ]);
      }
  });

  test("works if the project is a submodule", async () => {
    let outer = "";
    const place = await makeBoxedProject({
      name: "outer/deep/sub",
      prepare({ top, root, home }) {
        outer = join(top, "outer");
        rmSync(root, { recursive: true });
        addAll(outer, home);
      },
    });
    expect(await place.run(COMMIT)).toMatchObject({ isError: false });
    expect((await place.run(`echo x > ${outer}/.git/canary`)).isError).toBe(true);
    expect((await place.run("git config alias.x '!CANARY'")).isError).toBe(true);
  });
});

describe("a search for git directories", () => {
  test("finds those of submodules and worktrees in each other, and distinguishes links", () => {
    const root = makeTempDir();
    const top = join(root, ".git");
    const inner = ["modules/a", "modules/a/modules/b/c", "worktrees/w", "worktrees/w/modules/d"];
    for (const path of ["", ...inner]) makeGitDirectory(join(top, path));
    mkdirSync(join(top, "modules/a/objects/12"));
    symlinkSync("refs/heads/main", join(top, "modules/a/HEAD.link"));
    for (const path of ["modules/e", "modules/f/g", "worktrees/x", "modules/a/worktrees"]) {
      mkdirSync(dirname(join(top, path)), { recursive: true });
      symlinkSync(top, join(top, path));
    }
    writeFileSync(join(top, "packed"), "");
    symlinkSync("../../packed", join(top, "modules/a/packed-refs"));
    const { files, gitDirectories, isComplete } = new ProtectedFileScanner({ roots: [root] }).scan();
    const links = [...files.values()].flatMap(({ kind, path }) => (kind === "link" ? [path] : []));
    expect(gitDirectories.toSorted()).toEqual([top, ...inner.map((path) => join(top, path))].sort());
    const expected = [
      "modules/a/HEAD.link",
      "modules/a/worktrees",
      "modules/e",
      "modules/f/g",
      // Git would write through it.
      "modules/a/packed-refs",
      "worktrees/x",
    ];
    expect(links.sort()).toEqual(expected.map((path) => join(top, path)).sort());
    expect(isComplete).toBe(true);
  });

  test("ends if settings include themselves", () => {
    const file = join(makeTempDir(), "config");
    writeFileSync(file, `[include]\n${"path = config\n".repeat(2_000)}`);
    expect(readGitPathSettings(file, 5_000)).toHaveLength(2_000);
    expect(existsSync(file)).toBe(true);
  });
});
