import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { makeKeptProject } from "../support/kept-project.ts";

describe("a link in place of a directory with some protected entries", () => {
  const PLACES: readonly (readonly [link: string, below: string])[] = [
    [".cargo", "config.toml"],
    [".github", "workflows/ci.yml"],
    [".config", "git/config"],
    [".gitlab", "ci/x.yml"],
    [".local", "state/diligent/x"],
    [".local/state", "diligent/x"],
    ["sub/.forgejo", "actions/a.yml"],
  ];
  for (const [link, below] of PLACES) {
    test(`is moved away if a command creates it: ${link}`, async () => {
      const place = makeKeptProject();
      place.put(`foo/${below}`);
      mkdirSync(place.at(link).slice(0, place.at(link).lastIndexOf("/")), { recursive: true });
      await place.run(() => symlinkSync(place.at("foo"), place.at(link)));
      expect(place.moved()).toEqual([link]);
      expect(place.held()).toEqual([]);
    });

    test(`is restored if it existed, and its target is protected: ${link}`, async () => {
      const place = makeKeptProject();
      place.put("foo/other.txt");
      mkdirSync(place.at(link).slice(0, place.at(link).lastIndexOf("/")), { recursive: true });
      symlinkSync(place.at("foo"), place.at(link));
      await place.run(() => {
        place.put(`foo/${below}`, "CANARY\n");
        rmSync(place.at(link));
      });
      expect(readlinkSync(place.at(link))).toBe(place.at("foo"));
      await place.run(() => {});
      expect(readdirSync(place.at("foo"), { recursive: true })).not.toContain(below);
      expect(place.held()).toEqual([link]);
    });
  }

  test("protects what is behind it, and nothing else there", () => {
    const place = makeKeptProject();
    for (const path of ["gh/workflows/ci.yml", "gh/README.md"]) place.put(path);
    symlinkSync("gh", place.at(".github"));
    expect(place.held()).toEqual([".github", "gh/workflows"]);
  });

  test("is not such a link if any directory may have its name", async () => {
    const place = makeKeptProject();
    for (const path of ["src/LaunchAgents/x", "src/diligent/y"]) place.put(path);
    await place.run(() => {
      for (const name of ["library", "state", "share"]) symlinkSync("src", place.at(name));
    });
    expect(place.moved()).toEqual([]);
  });
});

test("a link in place of the directory that contains what the settings name is moved", async () => {
  const place = makeKeptProject();
  for (const [path, text] of Object.entries({
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/objects/x": "",
    ".git/refs/x": "",
    ".git/config": "[core]\n\thooksPath = tools/hooks\n",
    "tools/hooks/pre-commit": "mine\n",
    "src/hooks/pre-commit": "CANARY\n",
  }))
    place.put(path, text);
  await place.run(() => {
    renameSync(place.at("tools"), place.at("t2"));
    symlinkSync("src", place.at("tools"));
  });
  expect(place.moved()).toEqual(["tools"]);
  expect(readdirSync(place.at("src/hooks"))).toEqual(["pre-commit"]);
});
