import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ChangedUntil } from "../src/sandbox/control/changed-until.ts";
import { CutOffSession } from "../src/sandbox/control/cut-off-session.ts";
import { formatJournal, parseJournal } from "../src/sandbox/control/journal-text.ts";
import { makeKeptProject } from "./support/kept-project.ts";

/** A session that was killed between what its commands and what the user does. */
function makeCutOff(
  place: ReturnType<typeof makeKeptProject>,
  commands: () => void,
  maxDirectories?: number,
) {
  const places = { roots: [place.root], gitDirectories: [] };
  const journal = parseJournal(formatJournal(place.begin(), places), place.root);
  place.keeper.abandon();
  if (typeof journal !== "object") throw new Error(`the journal is ${journal}`);
  commands();
  const lastMs = Date.now() + 1;
  // What is made from now on is later, on the coarsest clock that a file system here has.
  const [probe, until] = [join(place.root, "..", "probe"), new ChangedUntil(lastMs)];
  do writeFileSync(probe, "");
  while (until.isOld(probe));
  const told: string[] = [];
  const tell = (message: string) => told.push(message);
  const limits = maxDirectories === undefined ? {} : { maxDirectories };
  const tidy = () =>
    new CutOffSession({ ...journal, ...limits, lastMs, quarantine: place.quarantine, tell }).tidy();
  return { told, tidy };
}

describe("after a session that was killed, a directory nearer to the top", () => {
  test("is left where its owner may have moved it, which is told", () => {
    const place = makeKeptProject();
    for (const path of ["vendor/lib/.git/config", "vendor/lib/CLAUDE.md", "deep/x/y/AGENTS.md"])
      place.put(path);
    const { told, tidy } = makeCutOff(place, () => {});
    renameSync(place.at("vendor/lib"), place.at("lib"));
    renameSync(place.at("deep/x"), place.at("x"));
    expect([tidy(), place.moved()]).toEqual([true, []]);
    expect(told).toEqual([
      expect.stringMatching(/(lib\/\.git|lib\/CLAUDE\.md|x\/y\/AGENTS\.md).*cannot be told/),
    ]);
  });

  test("is cleared where its commands moved it", () => {
    const place = makeKeptProject();
    for (const path of ["vendor/lib/CLAUDE.md", "vendor/lib/a.ts"]) place.put(path);
    const { tidy } = makeCutOff(place, () => renameSync(place.at("vendor/lib"), place.at("lib")));
    expect([tidy(), place.moved(), existsSync(place.at("lib/a.ts"))]).toEqual([
      true,
      ["lib/CLAUDE.md"],
      true,
    ]);
  });
});

describe("after a session that was killed, a directory that looks like a repository", () => {
  test("loses only what its commands added to it", () => {
    const place = makeKeptProject();
    for (const path of ["assets/HEAD", "assets/objects/o", "src/hooks/h", "mine/x"]) place.put(path);
    const { tidy } = makeCutOff(place, () => {
      mkdirSync(place.at("assets/refs"));
      for (const path of ["src/HEAD", "src/commondir"]) place.put(path);
    });
    for (const path of ["mine/HEAD", "mine/commondir"]) place.put(path);
    expect([tidy(), place.moved()]).toEqual([true, ["assets/refs", "src/HEAD"]]);
  });
});

describe("after a session that was killed with more directories than can be looked through", () => {
  test("nothing is moved, and it cannot be told what its commands made", () => {
    const place = makeKeptProject();
    const commands = () => {
      for (let count = 0; count < 20; count += 1) place.put(`many/${count}/a`);
      place.put("many/CLAUDE.md", "CANARY\n");
    };
    const { tidy } = makeCutOff(place, commands, 10);
    expect([tidy(), place.moved()]).toEqual([false, []]);
  });
});
