import { expect, test } from "bun:test";
import { renameSync, symlinkSync, unlinkSync } from "node:fs";
import { ProtectedFileRemedies } from "../../src/sandbox/protected-files/quarantine.ts";
import { ProtectedFileScanner } from "../../src/sandbox/protected-files/scan.ts";
import { sweep, withExpected } from "../../src/sandbox/protected-files/sweep.ts";
import type { ProtectedFileScan } from "../../src/sandbox/protected-files/types.ts";
import { makeKeptProject } from "../support/kept-project.ts";

/** On a file system that lets nothing be renamed. */
class FailingRemedies extends ProtectedFileRemedies {
  override moveAway(paths: readonly string[]): string[] {
    return paths.map((path) => `${this.nameOf(path)} is still there`);
  }
}

test("what could not be moved away is still compared with what was in its place", () => {
  const { root, quarantine, at, put } = makeKeptProject();
  for (const path of ["notes.md", "lib/.git/config"]) put(path);
  symlinkSync("notes.md", at("CLAUDE.md"));
  const scanner = new ProtectedFileScanner({ roots: [root] });
  const before = scanner.scan();
  unlinkSync(at("CLAUDE.md"));
  for (const path of ["CLAUDE.md", "AGENTS.md"]) put(path, "CANARY\n");
  renameSync(at("lib/.git"), at("lib/old"));
  put("lib/.git", "gitdir: old\n");
  const places = { roots: [root], quarantine, describeAppeared: (name: string) => `${name} appeared` };
  const run = (remedies: ProtectedFileRemedies, from: ProtectedFileScan) =>
    sweep({ scanner, remedies }, from, {
      heldGitDirectories: [],
      mayReveal: () => true,
      findAdded: () => [],
      findUnasked: (path) => [path],
      restoreLink: (link) => remedies.putBack(link),
    });
  const failing = run(new FailingRemedies(places), before);
  expect(failing.moved.toSorted()).toEqual([
    "AGENTS.md is still there",
    "CLAUDE.md is still there",
    "lib/.git is still there",
  ]);
  expect(failing.scan.files.get(at("CLAUDE.md"))).toEqual(before.files.get(at("CLAUDE.md")));
  const later = run(new ProtectedFileRemedies(places), failing.scan);
  expect([...later.moved, ...later.restored].toSorted()).toEqual([
    expect.stringContaining("AGENTS.md was moved to"),
    expect.stringContaining("CLAUDE.md was moved to"),
    expect.stringContaining("lib/.git was moved to"),
    expect.stringContaining("the link CLAUDE.md was restored"),
  ]);
});

test("a git directory inside an unreadable directory is still expected", () => {
  const { root, at, put } = makeKeptProject();
  for (const path of [".git/config", "lib/.git/config"]) put(path);
  const before = new ProtectedFileScanner({ roots: [root] }).scan();
  renameSync(at("lib"), `${root}-elsewhere`);
  const identity = "1:1";
  const unlistable = new Map([[identity, { path: at("lib"), identity }]]);
  const look = { ...new ProtectedFileScanner({ roots: [root] }).scan(), unlistable };
  const expected = withExpected(look, before, () => false);
  expect(expected.gitDirectories.toSorted()).toEqual([at(".git"), at("lib/.git")]);
});
