import { expect, test } from "bun:test";
import { renameSync, symlinkSync, unlinkSync } from "node:fs";
import { withExpected } from "../src/sandbox/control/control-look.ts";
import { ControlRemedies } from "../src/sandbox/control/control-remedies.ts";
import { ControlSweep } from "../src/sandbox/control/control-sweep.ts";
import { ControlWatch } from "../src/sandbox/control/control-watch.ts";
import { makeKeptProject } from "./support/kept-project.ts";

/** On a file system that lets nothing be renamed. */
class FailingRemedies extends ControlRemedies {
  override moveAway(paths: readonly string[]): string[] {
    return paths.map((path) => `${this.nameOf(path)} is still there`);
  }
}

test("what could not be moved away goes on to be compared with what was in its place", () => {
  const { root, quarantine, at, put } = makeKeptProject();
  for (const path of ["notes.md", "lib/.git/config"]) put(path);
  symlinkSync("notes.md", at("CLAUDE.md"));
  const watch = new ControlWatch({ roots: [root] });
  const before = watch.look();
  unlinkSync(at("CLAUDE.md"));
  for (const path of ["CLAUDE.md", "AGENTS.md"]) put(path, "CANARY\n");
  renameSync(at("lib/.git"), at("lib/old"));
  put("lib/.git", "gitdir: old\n");
  const options = { written: [], mayReveal: true, heldGitDirectories: [] };
  const places = { roots: [root], quarantine, maker: "A command" };
  const failing = new ControlSweep(watch, new FailingRemedies(places)).run(before, options);
  expect(failing.notes.toSorted()).toEqual([
    "AGENTS.md is still there",
    "CLAUDE.md is still there",
    "lib/.git is still there",
  ]);
  expect(failing.look.files.get(at("CLAUDE.md"))).toEqual(before.files.get(at("CLAUDE.md")));
  const later = new ControlSweep(watch, new ControlRemedies(places)).run(failing.look, options);
  expect(later.notes.toSorted()).toEqual([
    expect.stringContaining("AGENTS.md was moved to"),
    expect.stringContaining("CLAUDE.md was moved to"),
    expect.stringContaining("lib/.git was moved to"),
    expect.stringContaining("the link CLAUDE.md was put back"),
  ]);
});

test("a git directory in what cannot be looked into at the moment is still expected to be one", () => {
  const { root, at, put } = makeKeptProject();
  for (const path of [".git/config", "lib/.git/config"]) put(path);
  const before = new ControlWatch({ roots: [root] }).look();
  renameSync(at("lib"), `${root}-elsewhere`);
  const identity = "1:1";
  const unlistable = new Map([[identity, { path: at("lib"), identity }]]);
  const look = { ...new ControlWatch({ roots: [root] }).look(), unlistable };
  const expected = withExpected(look, before, () => false);
  expect(expected.gitDirectories.toSorted()).toEqual([at(".git"), at("lib/.git")]);
});
