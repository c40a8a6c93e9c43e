import { describe, expect, test } from "bun:test";
import { existsSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readGitPathSettings } from "../../src/infrastructure/paths/git-settings.ts";
import { makeCutOff } from "../support/cut-off-session.ts";
import { HOOKS, INCLUDE, makeKeptRepository } from "../support/kept-repository.ts";
import { makeTempDir } from "../support/temp-dir.ts";

/** A kept repository that tells which of several paths are there. */
function makeRepository(settings: string, files?: Record<string, string>) {
  const place = makeKeptRepository(settings, files);
  return { ...place, areThere: (...paths: string[]) => paths.filter((path) => existsSync(place.at(path))) };
}

describe("a link on the path that the settings name", () => {
  test("is what is moved, however far above, and wherever it leads", async () => {
    const place = makeRepository(HOOKS("a/b/hooks"), {
      "a/b/hooks/mine": "",
      "evil/b/hooks/pre-commit": "CANARY\n",
    });
    await place.run(() => {
      renameSync(place.at("a"), place.at("a2"));
      place.link("a", "evil");
    });
    expect(place.moved()).toEqual(["a"]);
    expect(place.areThere("a2/b/hooks/mine", "evil/b/hooks/pre-commit")).toHaveLength(2);
  });

  test("is moved if nothing was there before", async () => {
    for (const [named, link] of [
      ["a/hooks", "a"],
      ["a/b/hooks", "a"],
      ["a/b/hooks", "a/b"],
    ] as const) {
      const place = makeRepository(HOOKS(named), { "evil/hooks/x": "", "evil/b/hooks/x": "" });
      await place.run(() => place.link(link, place.at("evil")));
      expect(place.moved()).toEqual([link]);
    }
  });

  test("is moved if its target is not scanned, or does not exist yet", async () => {
    for (const target of ["node_modules/x", "nowhere"]) {
      const place = makeRepository(INCLUDE("../conf/more"), { "node_modules/x/more": HOOKS("evil") });
      await place.run(() => place.link("conf", target));
      expect(place.moved()).toEqual(["conf"]);
    }
  });

  test("is restored if it is the user's, and what is created behind it is moved", async () => {
    const place = makeRepository(HOOKS("a/hooks"), { "real/x": "", "evil/hooks/pre-commit": "CANARY\n" });
    place.link("hop", "real");
    place.link("a", "hop");
    await place.run(() => {
      rmSync(place.at("hop"));
      place.link("hop", "evil");
    });
    expect([readlinkSync(place.at("a")), readlinkSync(place.at("hop"))]).toEqual(["hop", "real"]);
    await place.run(() => place.put("real/hooks/pre-commit", "CANARY\n"));
    expect(place.areThere("real/hooks")).toEqual([]);
    expect(place.areThere("evil/hooks", "a/x")).toEqual(["evil/hooks", "a/x"]);
    expect(place.moved()).toEqual(["hop", "real/hooks/pre-commit"]);
  });
});

describe("what the user has stays if a command names it", () => {
  const MINE = { "src/main.ts": "", ".github/workflows/ci.yml": "", ".git/hooks/pre-commit": "" };
  const NAMES = `${HOOKS("../src")}${HOOKS("../.github/workflows/ci.yml")}${INCLUDE("../../.git/hooks/pre-commit")}`;
  const WAYS: Record<string, [plant: (place: ReturnType<typeof makeRepository>) => void, moved: string]> = {
    "in the settings of a repository": [(place) => place.put("x/.git/config", NAMES), "x/.git/config"],
    "in those of a submodule": [
      (place) =>
        place.put(".git/modules/x/config", `${HOOKS("../../../src")}${INCLUDE("../../hooks/pre-commit")}`),
      ".git/modules/x/config",
    ],
    "in further settings": [
      (place) => place.put("more", `${HOOKS("src")}${INCLUDE(".git/hooks/pre-commit")}`),
      "more",
    ],
    "by a worktree": [
      (place) => place.put(".git/worktrees/w/gitdir", place.at("src/.git")),
      ".git/worktrees/w/gitdir",
    ],
    "by a link": [(place) => place.link("AGENTS.md", ".git/hooks/pre-commit"), "AGENTS.md"],
  };
  for (const [name, [plant, moved]] of Object.entries(WAYS))
    test(name, async () => {
      const place = makeRepository(`${INCLUDE("../more")}${HOOKS("main.ts")}`, MINE);
      await place.run(() => plant(place));
      expect([place.moved(), place.areThere(...Object.keys(MINE))]).toEqual([[moved], Object.keys(MINE)]);
      expect(place.held()).not.toContain("src");
    });
});

test("after a killed session, the link is moved, and what the user has stays", () => {
  const place = makeRepository(HOOKS("a/b/hooks"), { "src/b/hooks/main.ts": "" });
  place.put("a/b/hooks/mine", "");
  const { tidy } = makeCutOff(place, () => {
    renameSync(place.at("a"), place.at("a2"));
    place.link("a", "src");
    place.put("x/.git/config", HOOKS("../src"));
  });
  expect([tidy(), place.moved()]).toEqual([true, ["a", "x/.git/config"]]);
  expect(place.areThere("src/b/hooks/main.ts", "a2/b/hooks/mine")).toHaveLength(2);
});

describe("hooks created at a path that the user's settings name", () => {
  test("are moved, whatever else names them", async () => {
    const place = makeRepository("");
    place.repository("lib/.git", HOOKS("../tools"));
    await place.run(() => {
      for (const other of ["a/.git", "z/.git"]) place.put(`${other}/config`, HOOKS("../tools"));
      place.put("tools/pre-commit", "CANARY\n");
    });
    expect(place.areThere("tools", "a/.git", "z/.git")).toEqual([]);
  });

  test("are moved if the repository was renamed in the meantime", async () => {
    const place = makeRepository("");
    place.repository("lib/.git", HOOKS("tools"));
    await place.run(() => {
      renameSync(place.at("lib"), place.at("new"));
      place.put("new/tools/pre-commit", "CANARY\n");
    });
    expect(place.areThere("new/tools", "new/.git/config")).toEqual(["new/.git/config"]);
  });
});

describe("settings that consist only of", () => {
  const LINES: Record<string, string> = {
    blanks: `${" ".repeat(250_000)}!`,
    "one section": "[a".repeat(120_000),
    "one value": `path = ${"y".repeat(250_000)}`,
  };
  for (const [name, line] of Object.entries(LINES))
    test(`${name} are read quickly`, () => {
      const file = join(makeTempDir(), "config");
      writeFileSync(file, `${line}\n${HOOKS("h")}`);
      expect(readGitPathSettings(file, 10).at(-1)).toEqual({
        key: "hookspath",
        value: "h",
        ...{ file, files: [file] },
      });
    });

  test("names are moved away, and keep no command from running", async () => {
    const place = makeRepository("");
    const notes = await place.run(() => place.put("x/.git/config", HOOKS("a").repeat(60)));
    expect(notes).toEqual([expect.stringContaining("x/.git was moved to")]);
    expect([place.moved(), place.begin().isComplete]).toEqual([["x/.git/config"], true]);
  });

  test("names let nothing run where they are the user's", () => {
    const place = makeRepository(HOOKS("a").repeat(60));
    expect(place.begin().isComplete).toBe(false);
  });
});
