import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { followLinks } from "../../src/infrastructure/fs/follow-links.ts";
import { makeCutOff } from "../support/cut-off-session.ts";
import { HOOKS, INCLUDE, makeKeptRepository } from "../support/kept-repository.ts";
import { makeTempDir } from "../support/temp-dir.ts";

type Project = ReturnType<typeof makeKeptRepository>;

interface Way {
  setUp: () => Project;
  plant: (place: Project) => void;
  moved: string[];
}

/** Each makes what is in force anyway look like something that only a command has put in force. */
const WAYS: Record<string, Way> = {
  "settings that are included a second time, by new ones": {
    setUp: () => {
      const place = makeKeptRepository(INCLUDE("../a") + INCLUDE("../b"));
      place.put("b", HOOKS("tools"));
      return place;
    },
    plant: (place) => {
      place.put("a", INCLUDE("b"));
      place.put("tools/pre-commit", "CANARY\n");
    },
    moved: ["a", "tools/pre-commit"],
  },
  "hooks that a new repository without a tree names as well": {
    setUp: () => makeKeptRepository(HOOKS("tools")),
    plant: (place) => {
      place.repository("x", HOOKS("../tools"));
      place.put("tools/pre-commit", "CANARY\n");
    },
    moved: ["tools/pre-commit", "x/HEAD"],
  },
  "hooks in a directory that becomes a repository itself": {
    setUp: () => makeKeptRepository(HOOKS("tools")),
    plant: (place) => place.repository("tools", ""),
    moved: ["tools/HEAD", "tools/config", "tools/hooks", "tools/objects", "tools/refs"],
  },
  "what sends a repository without a tree elsewhere, named by new settings": {
    setUp: () => {
      const place = makeKeptRepository();
      place.repository("r", "");
      return place;
    },
    plant: (place) => {
      place.put("x/.git/config", INCLUDE("../../r/commondir"));
      place.put("r/commondir", "../evil\n");
    },
    moved: ["r/commondir", "x/.git/config"],
  },
  "the same in a repository below one that is new": {
    setUp: () => {
      const place = makeKeptRepository();
      place.repository("p/modules/r", "");
      return place;
    },
    plant: (place) => {
      place.repository("p", "");
      place.put("p/modules/r/commondir", "../evil\n");
    },
    moved: ["p/HEAD", "p/modules/r/commondir"],
  },
};

describe("a file that existing settings make protected is moved even if new ones name it too", () => {
  for (const [name, { setUp, plant, moved }] of Object.entries(WAYS)) {
    test(`${name}, after a command`, async () => {
      const place = setUp();
      await place.run(() => plant(place));
      expect(place.moved()).toEqual(moved);
    });
    test(`${name}, after a killed session`, () => {
      const place = setUp();
      const { tidy } = makeCutOff(place, () => plant(place));
      expect([tidy(), place.moved()]).toEqual([true, moved]);
    });
  }
});

describe("what the user has stays", () => {
  test("if a link called .git leads to it", async () => {
    const place = makeKeptRepository();
    for (const path of ["src/config/a.ts", "src/hooks/b.ts", "src/branches/c.ts"]) place.put(path);
    await place.run(() => place.link("x/.git", "../src"));
    expect([place.moved(), readdirSync(place.at("src")).toSorted()]).toEqual([
      ["x/.git"],
      ["branches", "config", "hooks"],
    ]);
  });

  test("if a link on the way to a linked protected file leads to it", async () => {
    const place = makeKeptRepository();
    place.put("real/CLAUDE");
    place.put("docs/CLAUDE", "mine\n");
    place.link("mid", "real");
    place.link("CLAUDE.md", "mid/CLAUDE");
    await place.run(() => {
      rmSync(place.at("mid"));
      place.link("mid", "docs");
    });
    expect([place.moved(), readlinkSync(place.at("mid"))]).toEqual([["mid"], "real"]);
    expect(existsSync(place.at("docs/CLAUDE"))).toBe(true);
  });

  test("if settings name it that replaced the target of a link", async () => {
    const place = makeKeptRepository(INCLUDE("../more"));
    place.put("src/hooks/mine");
    place.put("c/more", HOOKS("tools"));
    place.link("more", "c/more");
    await place.run(() => {
      renameSync(place.at("c"), place.at("c2"));
      place.put("c/more", HOOKS("src/hooks"));
    });
    expect([place.moved(), existsSync(place.at("src/hooks/mine"))]).toEqual([["c/more"], true]);
  });

  test("if a dangling link begins to lead to it", async () => {
    const place = makeKeptRepository();
    place.put("src/hooks/mine");
    place.link(".github", "mid/hub");
    place.put("src/hub/workflows/ci.yml");
    await place.run(() => place.link("mid", "src"));
    expect([place.moved(), readdirSync(place.at("src/hub"))]).toEqual([["mid"], ["workflows"]]);
  });

  test("if the directory around a repository becomes one", async () => {
    const place = makeKeptRepository();
    place.repository("modules/foo/.git", "");
    await place.run(() => {
      for (const name of ["objects", "refs"]) mkdirSync(place.at(name));
      place.put("HEAD", "ref: refs/heads/main\n");
    });
    await place.run(() => {});
    expect(place.moved()).toEqual(["HEAD"]);
  });
});

describe("the path to hooks is resolved as git resolves it", () => {
  const FROM_OUTSIDE = "from outside the project, by a link";
  test(FROM_OUTSIDE, async () => {
    const alias = join(makeTempDir(), "alias");
    const place = makeKeptRepository(HOOKS(join(alias, "tools")));
    symlinkSync(place.root, alias);
    await place.run(() => place.put("tools/pre-commit", "CANARY\n"));
    expect(existsSync(place.at("tools"))).toBe(false);
  });

  test("back from the target of a link", async () => {
    const place = makeKeptRepository(HOOKS("a/../tools"));
    place.put("a/mine");
    await place.run(() => {
      renameSync(place.at("a"), place.at("a2"));
      place.put("evil/tools/pre-commit", "CANARY\n");
      mkdirSync(place.at("evil/b"));
      place.link("a", "evil/b");
    });
    expect([place.moved(), existsSync(place.at("a2/mine"))]).toEqual([["a"], true]);
  });

  test("and abandoned if it does not end", () => {
    const root = makeTempDir();
    symlinkSync("a/a", join(root, "a"));
    expect(followLinks(`${root}/a/b`, [root]).end).toBeUndefined();
    expect(followLinks(`${root}${"/a".repeat(100_000)}`, [root])).toEqual({
      links: [],
      end: undefined,
      steps: 0,
    });
    expect(followLinks("/", [root])).toEqual({ links: [], end: undefined, steps: 0 });
  });
});

test("after a killed session, settings that consist only of names hide nothing", () => {
  const place = makeKeptRepository();
  const { tidy } = makeCutOff(place, () => {
    place.put("x/.git/config", HOOKS("a").repeat(60));
    place.put("CLAUDE.md", "CANARY\n");
  });
  expect([tidy(), place.moved()]).toEqual([true, ["CLAUDE.md", "x/.git/config"]]);
});

describe("what was created behind a removed link is moved when the link is restored", () => {
  const setUp = () => {
    const place = makeKeptRepository(HOOKS("a/hooks"));
    place.put("real/mine");
    place.link("a", "real");
    return place;
  };
  const plant = (place: Project) => {
    rmSync(place.at("a"));
    place.put("real/hooks/pre-commit", "CANARY\n");
  };
  test("after a command with a background process", () => {
    const place = setUp();
    place.begin();
    plant(place);
    place.keeper.finish(new Promise(() => {}));
    expect([place.moved(), readdirSync(place.at("a"))]).toEqual([["real/hooks/pre-commit"], ["mine"]]);
  });
  test("after a killed session", () => {
    const place = setUp();
    const { tidy } = makeCutOff(place, () => plant(place));
    expect([tidy(), place.moved()]).toEqual([true, ["real/hooks/pre-commit"]]);
    expect(readdirSync(place.at("a"))).toEqual(["mine"]);
  });
});

test("a directory that is moved takes along what is to be moved inside it", async () => {
  const place = makeKeptRepository(HOOKS("tools"));
  await place.run(() => {
    place.repository("tools/b", "");
    place.put("tools/pre-commit", "CANARY\n");
  });
  expect(place.moved()).toContain("tools/b/HEAD");
  expect(readdirSync(place.root)).toEqual([".git"]);
});
