import { afterEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { ProtectedFileGuard } from "../../src/sandbox/protected-files/guard.ts";
import { ProtectedFileJournal } from "../../src/sandbox/protected-files/journal.ts";
import { recoverInterruptedSessions } from "../../src/sandbox/protected-files/recovery.ts";
import { SessionSandbox } from "../../src/sandbox/session-sandbox.ts";
import { findBoxProblem } from "../support/boxed-project.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const problem = await findBoxProblem();

const keepers: ProtectedFileGuard[] = [];

afterEach(async () => {
  await Promise.all(keepers.splice(0).map((keeper) => keeper.close()));
  await endAllProcesses();
});

const BACKGROUND = new Promise<never>(() => {});

// Above what any system gives.
const DEAD = "4194999-1-00ff00.json";

function createPlace() {
  const top = makeTempDir();
  const [root, directory, quarantine] = [
    join(top, "project"),
    join(top, "state", "boxed"),
    join(top, "quarantine"),
  ];
  mkdirSync(root);
  const places = { roots: [root], gitDirectories: [] };
  const told: string[] = [];
  const tell = (message: string) => told.push(message);
  const journal = new ProtectedFileJournal(directory, places);
  const keeper = new ProtectedFileGuard({ ...places, quarantine, journal });
  keepers.push(keeper);
  const at = (path: string) => join(root, path);
  const put = (path: string, content = "original\n") => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  };
  return {
    ...{ root, directory, keeper, told, at, put },
    begin: () => keeper.begin(() => []),
    /** As if the process had been killed just now. */
    kill() {
      const [name = ""] = readdirSync(directory);
      renameSync(join(directory, name), join(directory, DEAD));
      const now = new Date(Date.now() + 1);
      utimesSync(join(directory, DEAD), now, now);
      // What is made from now on is later, on the coarsest clock that a file system here has.
      const { mtimeMs } = statSync(join(directory, DEAD));
      const probe = join(top, "probe");
      do writeFileSync(probe, "");
      while (statSync(probe).ctimeMs <= mtimeMs);
    },
    tidy: () => recoverInterruptedSessions({ directory, root, quarantine, notify: tell }),
    moved: () =>
      (existsSync(quarantine) ? readdirSync(quarantine, { recursive: true, encoding: "utf8" }) : [])
        .filter((name) => !lstatSync(join(quarantine, name)).isDirectory())
        .map((name) => name.replace(/^[^/]+\//, ""))
        .toSorted(),
  };
}

describe("after a killed session", () => {
  test("what its commands created is moved away and reported, and later files stay", () => {
    const place = createPlace();
    place.put("AGENTS.md");
    place.put("docs/x.txt");
    place.begin();
    for (const path of ["CLAUDE.md", ".vscode/tasks.json", "docs/.env", "plain.txt"])
      place.put(path, "CANARY\n");
    place.kill();
    for (const path of ["GEMINI.md", ".vscode/settings.json", ".idea/mine.xml", "docs/y.txt"])
      place.put(path, "mine\n");
    place.put("AGENTS.md", "mine\n");
    place.tidy();
    expect(place.moved()).toEqual([".vscode/tasks.json", "CLAUDE.md", "docs/.env"].toSorted());
    expect(readdirSync(place.root).toSorted()).toEqual(
      [".idea", ".vscode", "AGENTS.md", "GEMINI.md", "docs", "plain.txt"].toSorted(),
    );
    expect(readFileSync(place.at("AGENTS.md"), "utf8")).toBe("mine\n");
    expect(place.told.toSorted()).toEqual(
      [".vscode/tasks.json", "CLAUDE.md", "docs/.env"].map((name) =>
        expect.stringContaining(
          `The last session here was killed, and one of its commands created ${name}, which controls`,
        ),
      ),
    );
    expect(existsSync(place.directory)).toBe(false);
    place.tidy();
    expect(place.told).toHaveLength(3);
  });

  test("existing files are recognized, renamed or not, and their replacements are not", () => {
    const place = createPlace();
    for (const path of ["a/CLAUDE.md", "b/CLAUDE.md", "c/CLAUDE.md"]) place.put(path);
    place.begin();
    renameSync(place.at("a"), place.at("a2"));
    renameSync(place.at("b"), place.at("b2"));
    place.put("b/CLAUDE.md", "CANARY\n");
    place.kill();
    renameSync(place.at("c"), place.at("c2"));
    place.tidy();
    const left = ["a2", "b", "b2", "c2"].map((name) => [name, ...readdirSync(place.at(name))]);
    expect(left).toEqual([["a2", "CLAUDE.md"], ["b"], ["b2", "CLAUDE.md"], ["c2", "CLAUDE.md"]]);
  });

  test("a link is restored if its commands removed it, and otherwise left to its owner", () => {
    const place = createPlace();
    for (const name of ["lost", "changed", "dropped", "mine"]) {
      place.put(`${name}/real.txt`);
      symlinkSync("real.txt", place.at(`${name}/CLAUDE.md`));
    }
    place.begin();
    for (const name of ["lost", "changed"]) rmSync(place.at(`${name}/CLAUDE.md`));
    symlinkSync("/etc/hostname", place.at("changed/CLAUDE.md"));
    place.kill();
    // A number that one of the links gives up could be the file's else.
    place.put("mine/new.md", "mine\n");
    for (const name of ["dropped", "mine"]) rmSync(place.at(`${name}/CLAUDE.md`));
    renameSync(place.at("mine/new.md"), place.at("mine/CLAUDE.md"));
    place.tidy();
    const targets = ["lost", "changed"].map((name) => readlinkSync(place.at(`${name}/CLAUDE.md`)));
    expect(targets).toEqual(["real.txt", "real.txt"]);
    expect(existsSync(place.at("dropped/CLAUDE.md"))).toBe(false);
    expect(readFileSync(place.at("mine/CLAUDE.md"), "utf8")).toBe("mine\n");
    expect(
      place.told.map((line) => line.replace(/^[^:]*: |^.* created /, "").slice(0, 40)).toSorted(),
    ).toEqual([
      "changed/CLAUDE.md, which controls other ",
      "the link changed/CLAUDE.md was restored:",
      "the link dropped/CLAUDE.md, which led to",
      "the link lost/CLAUDE.md was restored: co",
    ]);
  });

  test("a clean project reports nothing, and neither does a file from after the last command", () => {
    const place = createPlace();
    place.put("CLAUDE.md");
    place.begin();
    place.keeper.finish(BACKGROUND);
    place.kill();
    place.tidy();
    expect([place.told, existsSync(place.directory)]).toEqual([[], false]);
  });
});

describe("the journal of a session", () => {
  test("is private, is written again only after another scan, and is removed at its end", async () => {
    const place = createPlace();
    const runCommand = async () => {
      place.begin();
      place.keeper.finish(Promise.resolve());
      await Promise.resolve();
    };
    place.put("CLAUDE.md");
    const files = () =>
      readdirSync(place.directory).map((name) => {
        const { ino, mode } = statSync(join(place.directory, name));
        return { ino, mode: mode & 0o777 };
      });
    await runCommand();
    const [first] = files();
    await runCommand();
    expect(files()).toEqual([{ ino: first?.ino ?? 0, mode: 0o600 }]);
    place.put("AGENTS.md");
    await runCommand();
    expect(files()).toHaveLength(1);
    expect(readFileSync(join(place.directory, readdirSync(place.directory)[0] ?? ""), "utf8")).toContain(
      "AGENTS.md",
    );
    await place.keeper.close();
    expect(existsSync(place.directory)).toBe(false);
  });

  test("is valid some seconds after each sign of life, and ends with the last command", async () => {
    const place = createPlace();
    const untilMs = () => statSync(join(place.directory, readdirSync(place.directory)[0] ?? "")).mtimeMs;
    const beganAtMs = Date.now();
    place.begin();
    expect(untilMs()).toBeGreaterThanOrEqual(beganAtMs + 4_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    const finishedAtMs = Date.now();
    place.keeper.finish(promise);
    expect(untilMs()).toBeGreaterThanOrEqual(finishedAtMs + 4_000);
    const passedAtMs = Date.now();
    place.keeper.passTime();
    expect(untilMs()).toBeGreaterThanOrEqual(passedAtMs + 4_000);
    resolve();
    await promise;
    await Promise.resolve();
    expect(untilMs()).toBeLessThanOrEqual(Date.now() + 1);
  });

  test("of a living session is not used", () => {
    const place = createPlace();
    place.begin();
    place.put("CLAUDE.md", "another session looks after it\n");
    place.tidy();
    expect([existsSync(place.at("CLAUDE.md")), readdirSync(place.directory).length, place.told]).toEqual([
      true,
      1,
      [],
    ]);
  });

  test("is not trusted if it is damaged, somebody else's, or of another directory at the same path", () => {
    const damages: readonly ((path: string, root: string) => void)[] = [
      (path) => writeFileSync(path, readFileSync(path, "utf8").slice(0, -10)),
      (path) => writeFileSync(path, readFileSync(path, "utf8").replace(/"stamp":"\d+/, '"stamp":"0')),
      (path, root) => writeFileSync(path, readFileSync(path, "utf8").replaceAll(root, "/etc")),
      (path) => writeFileSync(path, readFileSync(path, "utf8").replace(/"files":\[/, '$&{"path":"/etc/x"},')),
      (path, root) => {
        renameSync(root, `${root}-old`);
        mkdirSync(root);
        writeFileSync(join(root, "CLAUDE.md"), "CANARY\n");
        utimesSync(path, new Date(), new Date(Date.now() + 10_000));
      },
    ];
    for (const damage of damages) {
      const place = createPlace();
      place.put("a/AGENTS.md");
      place.begin();
      place.put("CLAUDE.md", "CANARY\n");
      place.kill();
      damage(join(place.directory, DEAD), place.root);
      place.tidy();
      expect([existsSync(place.at("CLAUDE.md")), place.told]).toEqual([
        true,
        [expect.stringContaining("it is unknown which files its commands created")],
      ]);
    }
  });
});

describe.skipIf(problem !== undefined)("a session in a project in which another was killed", () => {
  test("finds files that a command of the killed session created moved away", async () => {
    const top = makeTempDir();
    for (const name of ["project", "home", "session"]) mkdirSync(join(top, name));
    const root = join(top, "project");
    const script = join(import.meta.dir, "..", "support", "run-boxed.ts");
    const command = "echo CANARY > CLAUDE.md; touch done; sleep 60";
    const child = Bun.spawn([process.execPath, script, top, command], {
      stdout: "ignore",
      stderr: "inherit",
    });
    while (!existsSync(join(root, "done"))) await Bun.sleep(5);
    child.kill("SIGKILL");
    await child.exited;
    const told: string[] = [];
    const environment = { PATH: process.env.PATH, HOME: join(top, "home") };
    const sandbox = new SessionSandbox({
      ...{ setting: "auto", environment, root, directory: () => join(top, "session") },
      notify: (message) => told.push(message),
    });
    await Promise.all([sandbox.recover(), sandbox.recover()]);
    expect(readdirSync(root)).toEqual(["done"]);
    expect((await sandbox.sandboxState()).kind).toBe("boxed");
    expect(told).toEqual([expect.stringContaining("one of its commands created CLAUDE.md, which controls")]);
  });
});
