import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ProtectedFileRemedies } from "../../src/sandbox/protected-files/quarantine.ts";
import { makeCutOff } from "../support/cut-off-session.ts";
import { HOOKS, makeKeptRepository } from "../support/kept-repository.ts";
import { makeTempDir } from "../support/temp-dir.ts";

type Project = ReturnType<typeof makeKeptRepository>;

/** Settings that are included from a directory which git would take for a repository after these. */
const PLANTS: Record<string, { plant: (place: Project) => void; moved: string }> = {
  "where the directory of included settings becomes a repository": {
    plant: (place) => {
      for (const name of ["objects", "refs"]) mkdirSync(place.at(`conf/${name}`));
      place.put("conf/HEAD", "ref: refs/heads/main\n");
    },
    moved: "conf/HEAD",
  },
  "where a link called .git leads to the directory of included settings": {
    plant: (place) => {
      mkdirSync(place.at("x"), { recursive: true });
      symlinkSync("../conf", place.at("x/.git"));
    },
    moved: "x/.git",
  },
};

describe("what existing settings name only from a new repository stays the user's", () => {
  const setUp = () => {
    const place = makeKeptRepository("[include]\n\tpath = ../conf/config\n");
    place.put("conf/config", HOOKS("mine"));
    place.put("conf/mine/notes");
    return place;
  };
  for (const [name, { plant, moved }] of Object.entries(PLANTS)) {
    test(`${name}, after a command`, async () => {
      const place = setUp();
      await place.run(() => plant(place));
      expect([place.moved(), existsSync(place.at("conf/mine/notes"))]).toEqual([[moved], true]);
    });
    test(`${name}, while something runs in the background`, () => {
      const place = setUp();
      for (let commands = 0; commands < 2; commands += 1) {
        place.begin();
        for (const path of ["conf/objects", "conf/refs"])
          rmSync(place.at(path), { recursive: true, force: true });
        plant(place);
        place.keeper.finish(new Promise(() => {}));
      }
      expect([place.moved(), existsSync(place.at("conf/mine/notes"))]).toEqual([[moved, moved], true]);
    });
    test(`${name}, after a killed session`, () => {
      const place = setUp();
      const { tidy } = makeCutOff(place, () => plant(place));
      expect([tidy(), place.moved(), existsSync(place.at("conf/mine/notes"))]).toEqual([true, [moved], true]);
    });
  }
});

test("hooks that settings in a new repository name as before stay", () => {
  const place = makeKeptRepository("[include]\n\tpath = ../conf/config\n");
  place.put("conf/config", HOOKS("mine"));
  place.put("mine/pre-commit");
  const [repository] = Object.values(PLANTS);
  const commands = [() => repository?.plant(place), () => {}];
  for (const command of commands) {
    place.begin();
    command();
    place.keeper.finish(new Promise(() => {}));
  }
  expect([place.moved(), readdirSync(place.at("mine"))]).toEqual([["conf/HEAD"], ["pre-commit"]]);
});

describe("a path that settings already named is moved when it is created", () => {
  const replaceSettings = (place: Project, text: string) => {
    place.put(".git/config.lock", text);
    renameSync(place.at(".git/config.lock"), place.at(".git/config"));
  };
  const settings = `${HOOKS("tools")}[include]\n\tpath = ../more\n`;
  const plant = (place: Project) => {
    replaceSettings(place, `${settings}[user]\n\tname = Me\n`);
    place.put("tools/pre-commit", "CANARY\n");
    place.put("more", "CANARY\n");
  };
  test("even if the user's git replaces the settings while a command runs", async () => {
    const place = makeKeptRepository(settings);
    await place.run(() => plant(place));
    expect(place.moved()).toEqual(["more", "tools/pre-commit"]);
  });
  test("even if it has replaced them since a session was killed", () => {
    const place = makeKeptRepository(settings);
    const { tidy } = makeCutOff(place, () => plant(place));
    expect([tidy(), place.moved()]).toEqual([true, ["more", "tools/pre-commit"]]);
  });
  test("but what the user's new settings name stays", async () => {
    const place = makeKeptRepository("");
    place.put("src/hooks/mine");
    await place.run(() => replaceSettings(place, HOOKS("src/hooks")));
    expect([place.moved(), readdirSync(place.at("src/hooks"))]).toEqual([[], ["mine"]]);
  });
  test("and what only a command's settings named does not count as named", () => {
    const place = makeKeptRepository("");
    place.put("src/hooks/mine");
    for (let commands = 0; commands < 2; commands += 1) {
      place.begin();
      place.put("x/.git/config", HOOKS("../src/hooks"));
      place.keeper.finish(new Promise(() => {}));
    }
    expect([new Set(place.moved()), readdirSync(place.at("src/hooks"))]).toEqual([
      new Set(["x/.git/config"]),
      ["mine"],
    ]);
  });
});

test("files outside the project are not moved through a link that was moved out of it", () => {
  const top = mkdtempSync(join(makeTempDir(), "top-"));
  const [project, cache, quarantine, elsewhere] = [
    "project",
    ".cargo/registry",
    "quarantine",
    "elsewhere",
  ].map((name) => join(top, name));
  if (!project || !cache || !quarantine || !elsewhere) throw new Error("no paths");
  for (const directory of [project, cache, elsewhere]) mkdirSync(directory, { recursive: true });
  const link = join(project, top, ".cargo");
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(elsewhere, link);
  writeFileSync(join(cache, "CLAUDE.md"), "CANARY\n");
  const remedies = new ProtectedFileRemedies({
    roots: [project, cache],
    quarantine,
    describeAppeared: (name: string) => `${name} appeared`,
  });
  expect(remedies.moveAway([link, join(cache, "CLAUDE.md")])).toHaveLength(2);
  expect([readdirSync(elsewhere), readdirSync(cache)]).toEqual([[], []]);
  expect(readdirSync(quarantine)).toHaveLength(2);
});
