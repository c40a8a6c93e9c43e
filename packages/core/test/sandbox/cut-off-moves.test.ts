import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { makeCutOff } from "../support/cut-off-session.ts";
import { makeKeptProject } from "../support/kept-project.ts";

describe("after a killed session, a directory nearer to the top", () => {
  test("is left in place if its owner may have moved it, which is reported", () => {
    const place = makeKeptProject();
    for (const path of ["vendor/lib/.git/config", "vendor/lib/CLAUDE.md", "deep/x/y/AGENTS.md"])
      place.put(path);
    const { told, tidy } = makeCutOff(place, () => {});
    renameSync(place.at("vendor/lib"), place.at("lib"));
    renameSync(place.at("deep/x"), place.at("x"));
    expect([tidy(), place.moved()]).toEqual([true, []]);
    expect(told).toEqual([
      expect.stringMatching(/(lib\/\.git|lib\/CLAUDE\.md|x\/y\/AGENTS\.md).*it is unknown who moved it/),
    ]);
  });

  test("is cleaned if its commands moved it", () => {
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

describe("after a killed session, a directory that looks like a repository", () => {
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

describe("after a killed session with more directories than can be scanned", () => {
  test("nothing is moved, and it is unknown what its commands created", () => {
    const place = makeKeptProject();
    const commands = () => {
      for (let count = 0; count < 20; count += 1) place.put(`many/${count}/a`);
      place.put("many/CLAUDE.md", "CANARY\n");
    };
    const { tidy } = makeCutOff(place, commands, 10);
    expect([tidy(), place.moved()]).toEqual([false, []]);
  });
});
