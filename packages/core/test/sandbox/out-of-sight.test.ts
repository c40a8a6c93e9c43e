import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { ChangedUntil } from "../../src/infrastructure/fs/changed-until.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { makeKeptProject } from "../support/kept-project.ts";

const problem = await findBoxProblem();

describe("a directory that a command moves into one that is not scanned", () => {
  test("is still protected there, and what is created in it is moved away", async () => {
    const place = makeKeptProject();
    for (const path of ["lib/.git/config", "lib/CLAUDE.md", "lib/a.ts"]) place.put(path);
    await place.run(() => {
      mkdirSync(place.at("node_modules/deep/er"), { recursive: true });
      renameSync(place.at("lib"), place.at("node_modules/deep/er/lib"));
      place.put("node_modules/deep/er/lib/AGENTS.md", "CANARY\n");
      symlinkSync("node_modules/deep/er/lib", place.at("lib"));
    });
    const lib = "node_modules/deep/er/lib";
    expect(place.moved()).toEqual([`${lib}/AGENTS.md`]);
    expect(place.held()).toEqual([`${lib}/.git`, `${lib}/.git/config`, `${lib}/CLAUDE.md`].toSorted());
    await place.run(() => place.put(`${lib}/.env`, "CANARY\n"));
    expect(place.moved()).toEqual([`${lib}/.env`, `${lib}/AGENTS.md`]);
    expect(readdirSync(place.at(lib)).toSorted()).toEqual([".git", "CLAUDE.md", "a.ts"]);
  });

  test("is recognized as the same one, also through a link to it without a protected file", async () => {
    const place = makeKeptProject();
    for (const path of ["lib/sub/CLAUDE.md", "src/a.ts"]) place.put(path);
    await place.run(() => {
      renameSync(place.at("lib"), place.at("node_modules"));
      renameSync(place.at("src"), place.at("node_modules/src"));
      symlinkSync("node_modules/src", place.at("src"));
      place.put("src/AGENTS.md", "CANARY\n");
    });
    await place.run(() => {
      place.put("node_modules/.env", "CANARY\n");
      place.put("src/CLAUDE.md", "CANARY\n");
    });
    expect(place.moved()).toEqual([
      "node_modules/.env",
      "node_modules/src/AGENTS.md",
      "node_modules/src/CLAUDE.md",
    ]);
    expect(place.held()).toEqual(["node_modules/sub/CLAUDE.md"]);
  });

  test("is found in a git directory further down that can be written to", async () => {
    const place = makeKeptProject();
    for (const path of ["lib/CLAUDE.md", "other/.git/config"]) place.put(path);
    await place.run(() => renameSync(place.at("lib"), place.at("other/.git/lib")));
    expect(place.held()).toEqual(["other/.git", "other/.git/config", "other/.git/lib/CLAUDE.md"]);
  });

  test("does not affect what packages bring, also at that path later", async () => {
    const place = makeKeptProject();
    for (const path of ["lib/CLAUDE.md", "node_modules/react/.npmrc"]) place.put(path);
    await place.run(() => renameSync(place.at("lib"), place.at("node_modules/lib")));
    await place.run(() => {
      renameSync(place.at("node_modules/lib"), place.at("node_modules/other"));
      place.put("node_modules/lib/.npmrc");
      symlinkSync("node_modules/react", place.at("react"));
    });
    expect([place.moved(), place.held()]).toEqual([[], ["node_modules/other/CLAUDE.md"]]);
  });
});

describe.skipIf(problem !== undefined)("in a sandbox, what a command disguises for the next one", () => {
  test("is still read-only", async () => {
    const place = await makeBoxedProject();
    for (const path of ["lib/.git/config", "lib/CLAUDE.md", ".git/config", "CLAUDE.md", ".env"])
      place.put(`project/${path}`);
    await place.run(
      "mkdir node_modules; mv lib node_modules/lib; ln -s node_modules/lib lib; mkdir objects refs; echo ref: refs/heads/x > HEAD",
    );
    await place.run(
      "for f in lib/.git/config lib/CLAUDE.md .git/config CLAUDE.md .env; do echo CANARY >> $f; rm -f $f; done; echo CANARY > lib/AGENTS.md",
    );
    await place.run("rm -rf objects refs HEAD");
    const paths = ["lib/.git/config", "lib/CLAUDE.md", ".git/config", "CLAUDE.md", ".env", "lib/AGENTS.md"];
    expect(paths.map((path) => place.text(`project/${path}`))).toEqual([
      ...Array(5).fill("original\n"),
      undefined,
    ]);
  });
});

describe("more directories than can be scanned", () => {
  function makeMany(place: ReturnType<typeof makeKeptProject>) {
    for (let count = 0; count < 20; count += 1) mkdirSync(place.at(`many/${count}`), { recursive: true });
  }

  test("hide nothing: this is reported, no command runs, and what was created is moved away once possible", async () => {
    const place = makeKeptProject({ maxDirectories: 10 });
    place.put("AGENTS.md");
    mkdirSync(place.at("many/0/src"), { recursive: true });
    const notes = await place.run(() => {
      makeMany(place);
      place.put("many/0/src/CLAUDE.md", "CANARY\n");
    });
    const said = "there are now too many directories to scan";
    expect([notes, place.told]).toEqual([[expect.stringContaining(said)], [expect.stringContaining(said)]]);
    expect(place.begin().isComplete).toBe(false);
    place.keeper.abandon();
    for (let count = 1; count < 20; count += 1) rmSync(place.at(`many/${count}`), { recursive: true });
    const look = place.begin();
    place.keeper.abandon();
    expect([look.isComplete, place.moved()]).toEqual([true, ["many/0/src/CLAUDE.md"]]);
  });

  test("never make the user lose files that are newer than all commands", async () => {
    const place = makeKeptProject({ maxDirectories: 10 });
    await place.run(() => {
      makeMany(place);
      place.put("many/0/CLAUDE.md", "CANARY\n");
    });
    // Commands may have been at work for a moment after the last one returned.
    const ended = new ChangedUntil(Date.now() + 60);
    do writeFileSync(place.at("AGENTS.md"), "mine\n");
    while (ended.isOld(place.at("AGENTS.md")));
    for (let count = 1; count < 20; count += 1) rmSync(place.at(`many/${count}`), { recursive: true });
    await place.run(() => {});
    expect([place.moved(), existsSync(place.at("AGENTS.md"))]).toEqual([["many/0/CLAUDE.md"], true]);
  });
});
