import { expect, test } from "bun:test";
import { renameSync, symlinkSync, unlinkSync } from "node:fs";
import { ProtectedFileSweep } from "../../src/sandbox/protected-files/guard.ts";
import { ProtectedFileRemedies } from "../../src/sandbox/protected-files/quarantine.ts";
import { ProtectedFileScanner } from "../../src/sandbox/protected-files/scan.ts";
import { withExpected } from "../../src/sandbox/protected-files/types.ts";
import { makeKeptProject } from "../support/kept-project.ts";

/** On a file system that lets nothing be renamed. */
class FailingRemedies extends ProtectedFileRemedies {
  override moveAway(paths: readonly string[]): string[] {
    return paths.map((path) => `${this.nameOf(path)} is still there`);
  }
}

test("what could not be moved away goes on to be compared with what was in its place", () => {
  const { root, quarantine, at, put } = makeKeptProject();
  for (const path of ["notes.md", "lib/.git/config"]) put(path);
  symlinkSync("notes.md", at("CLAUDE.md"));
  const watch = new ProtectedFileScanner({ roots: [root] });
  const before = watch.look();
  unlinkSync(at("CLAUDE.md"));
  for (const path of ["CLAUDE.md", "AGENTS.md"]) put(path, "CANARY\n");
  renameSync(at("lib/.git"), at("lib/old"));
  put("lib/.git", "gitdir: old\n");
  const options = { written: [], mayReveal: true, heldGitDirectories: [] };
  const places = { roots: [root], quarantine, describeAppeared: (name: string) => `${name} appeared` };
  const failing = new ProtectedFileSweep(watch, new FailingRemedies(places)).run(before, options);
  expect(failing.notes.toSorted()).toEqual([
    "AGENTS.md is still there",
    "CLAUDE.md is still there",
    "lib/.git is still there",
  ]);
  expect(failing.look.files.get(at("CLAUDE.md"))).toEqual(before.files.get(at("CLAUDE.md")));
  const later = new ProtectedFileSweep(watch, new ProtectedFileRemedies(places)).run(failing.look, options);
  expect(later.notes.toSorted()).toEqual([
    expect.stringContaining("AGENTS.md was moved to"),
    expect.stringContaining("CLAUDE.md was moved to"),
    expect.stringContaining("lib/.git was moved to"),
    expect.stringContaining("the link CLAUDE.md was restored"),
  ]);
});

test("a git directory in what cannot be looked into at the moment is still expected to be one", () => {
  const { root, at, put } = makeKeptProject();
  for (const path of [".git/config", "lib/.git/config"]) put(path);
  const before = new ProtectedFileScanner({ roots: [root] }).look();
  renameSync(at("lib"), `${root}-elsewhere`);
  const identity = "1:1";
  const unlistable = new Map([[identity, { path: at("lib"), identity }]]);
  const look = { ...new ProtectedFileScanner({ roots: [root] }).look(), unlistable };
  const expected = withExpected(look, before, () => false);
  expect(expected.gitDirectories.toSorted()).toEqual([at(".git"), at("lib/.git")]);
});
