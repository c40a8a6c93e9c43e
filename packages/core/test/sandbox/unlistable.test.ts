import { afterEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { makeListable } from "../../src/infrastructure/fs/directory.ts";
import { ProtectedFileGuard } from "../../src/sandbox/protected-files/guard.ts";
import { ProtectedFileScanner } from "../../src/sandbox/protected-files/scan.ts";
import { withExpected } from "../../src/sandbox/protected-files/sweep.ts";
import { asPlainUser, findPlainUserObstacle, giveToPlainUser } from "../support/plain-user.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { describeUnless, ONLY_ROOT_CAN, testUnless } from "../support/test-unless.ts";

const obstacle = findPlainUserObstacle();
const places: { top: string; keeper: ProtectedFileGuard }[] = [];

afterEach(async () => {
  for (const { top, keeper } of places.splice(0)) {
    await keeper.close();
    // What cannot be listed cannot be removed either.
    Bun.spawnSync(["chmod", "-R", "u+rwx", top]);
  }
});

const FOREGROUND = Promise.resolve();
const BACKGROUND = new Promise<never>(() => {});

function createPlace() {
  const top = makeTempDir();
  giveToPlainUser(top);
  const root = join(top, "project");
  const told: string[] = [];
  const keeper = new ProtectedFileGuard({
    roots: [root],
    gitDirectories: [],
    quarantine: join(top, "quarantine"),
    notify: (message) => told.push(message),
  });
  places.push({ top, keeper });
  const at = (path: string) => join(root, path);
  const put = (path: string) => {
    mkdirSync(join(at(path), ".."), { recursive: true });
    writeFileSync(at(path), "original\n");
  };
  const modeOf = (path: string) => (statSync(at(path)).mode & 0o7777).toString(8);
  asPlainUser(() => mkdirSync(root));
  return { top, root, keeper, told, at, put, modeOf };
}

type Place = ReturnType<typeof createPlace>;

/** A command: what it does as a plain user between the looks. @returns what the model reads. */
function command({ keeper }: Place, act: () => void, end: Promise<unknown> = FOREGROUND): string {
  return asPlainUser(() => {
    keeper.begin(() => []);
    act();
    return keeper.finish(end).join("\n");
  });
}

describeUnless(obstacle)("a directory that a command makes unlistable", () => {
  test.each(["311", "000", "644", "200"])(
    "with mode %s hides no protected file, nor one further below",
    (digits) => {
      const mode = Number.parseInt(digits, 8);
      const place = createPlace();
      const said = command(place, () => {
        place.put("a/b/CLAUDE.md");
        place.put("a/.vscode/tasks.json");
        chmodSync(place.at("a/.vscode"), 0);
        chmodSync(place.at("a/b"), mode);
        chmodSync(place.at("a"), mode);
      });
      expect([readdirSync(place.at("a")), readdirSync(place.at("a/b"))]).toEqual([["b"], []]);
      expect(said.split("\n").toSorted()).toEqual([
        expect.stringMatching(/^a \(now 0?7..\), a\/b \(now 0?7..\) could not be listed any more: /),
        expect.stringMatching(/^a\/\.vscode was moved to /),
        expect.stringMatching(/^a\/b\/CLAUDE\.md was moved to /),
      ]);
      expect(place.told).toHaveLength(2);
      expect([place.modeOf("a"), place.modeOf("a/b")]).toEqual([
        (mode | 0o700).toString(8),
        (mode | 0o700).toString(8),
      ]);
    },
  );

  test("never makes the user lose a file, whatever its path is by then", () => {
    const place = createPlace();
    asPlainUser(() => place.put("a/CLAUDE.md"));
    const said = command(place, () => {
      renameSync(place.at("a"), place.at("b"));
      chmodSync(place.at("b"), 0);
    });
    expect(said).toStartWith("b (now 0700) could not be listed any more");
    expect([readdirSync(place.at("b")), place.told]).toEqual([["CLAUDE.md"], []]);
  });

  test("is the project itself, or is in a git directory", () => {
    const place = createPlace();
    asPlainUser(() => {
      place.put(".git/config");
      place.put(".git/HEAD");
      mkdirSync(place.at(".git/modules"));
    });
    const said = command(place, () => {
      place.put(".git/modules/sub/config");
      place.put("CLAUDE.md");
      for (const path of [".git/modules/sub", ".git/modules", ".git", ""]) chmodSync(place.at(path), 0o311);
    });
    expect(existsSync(place.at(".git/modules/sub/config"))).toBe(false);
    expect(readdirSync(place.root)).toEqual([".git"]);
    expect(said.match(/was moved to/g)).toHaveLength(2);
    expect(command(place, () => {})).toBe("");
  });

  test("is named only a few times if there are many", () => {
    const place = createPlace();
    const said = command(place, () => {
      for (let index = 0; index < 9; index++) mkdirSync(place.at(`d${index}`), { mode: 0o300 });
    });
    expect(said.split("\n")).toEqual([expect.stringMatching(/^(?:d\d \(now 0700\)(?:, )?){5} and 4 more /)]);
  });

  test("is not changed between two commands, and opened with the next", () => {
    const place = createPlace();
    asPlainUser(() => place.put("a/AGENTS.md"));
    command(place, () => {}, BACKGROUND);
    asPlainUser(() => {
      place.put("a/CLAUDE.md");
      chmodSync(place.at("a"), 0o311);
      place.keeper.passTime();
      place.keeper.passTime();
    });
    expect(place.modeOf("a")).toBe("311");
    expect(command(place, () => {})).toMatch(/a\/CLAUDE\.md was moved to/);
    expect([place.modeOf("a"), readdirSync(place.at("a"))]).toEqual(["711", ["AGENTS.md"]]);
  });

  test("that loses its permissions again during a scan is not taken for the user's, and its contents are not given up", () => {
    const place = createPlace();
    asPlainUser(() => {
      place.put("a/AGENTS.md");
      const watch = new ProtectedFileScanner({ roots: [place.root] });
      const before = watch.scan();
      chmodSync(place.at("a"), 0o311);
      const look = watch.scan(undefined, () => true);
      expect([look.files.size, look.unlistable.size]).toEqual([0, 1]);
      const expected = withExpected(look, before, () => false);
      expect([[...expected.files.keys()], expected.unlistable.size]).toEqual([[place.at("a/AGENTS.md")], 0]);
    });
  });

  test("is opened when background processes have ended, and at the end of the session", async () => {
    for (const how of ["end", "close"] as const) {
      const place = createPlace();
      const { promise, resolve } = Promise.withResolvers<void>();
      command(place, () => {}, promise);
      asPlainUser(() => {
        place.put("a/CLAUDE.md");
        chmodSync(place.at("a"), 0);
      });
      if (process.geteuid?.() === 0) process.seteuid?.(65_534);
      try {
        if (how === "end") resolve();
        await (how === "end" ? promise : place.keeper.close());
      } finally {
        if (process.getuid?.() === 0) process.seteuid?.(0);
      }
      expect([how, place.modeOf("a"), readdirSync(place.at("a"))]).toEqual([how, "700", []]);
    }
  });
});

describeUnless(obstacle)("a directory that could not be listed before", () => {
  test("stays unchanged, and is distinguished from what may be written", () => {
    const place = createPlace();
    asPlainUser(() => {
      place.put("a/CLAUDE.md");
      chmodSync(place.at("a"), 0o311);
      const look = place.keeper.begin(() => []);
      expect([...look.unlistable.values()].map(({ path }) => path)).toEqual([place.at("a")]);
      expect(place.keeper.finish(FOREGROUND)).toEqual([]);
    });
    expect(place.modeOf("a")).toBe("311");
  });

  test("is not replaced by one in which a command has created something", () => {
    const place = createPlace();
    asPlainUser(() => {
      place.put("around/a/CLAUDE.md");
      chmodSync(place.at("around/a"), 0o311);
    });
    const said = command(place, () => {
      renameSync(place.at("around"), place.at("b"));
      place.put("around/a/CLAUDE.md");
    });
    expect(said).toStartWith("around/a/CLAUDE.md was moved to");
    expect([readdirSync(place.at("around/a")), place.modeOf("b/a")]).toEqual([[], "311"]);
  });

  test("keeps its contents if its owner opens it while something runs in the background", () => {
    const place = createPlace();
    asPlainUser(() => {
      place.put("a/CLAUDE.md");
      chmodSync(place.at("a"), 0);
    });
    command(place, () => {}, BACKGROUND);
    asPlainUser(() => chmodSync(place.at("a"), 0o755));
    expect([command(place, () => {}), readdirSync(place.at("a"))]).toEqual(["", ["CLAUDE.md"]]);
  });
});

describeUnless(obstacle)("making a directory listable", () => {
  const look = (place: Place) =>
    asPlainUser(
      () => new ProtectedFileScanner({ roots: [place.root] }).scan().unlistable.values().next().value,
    );

  test("follows no link and takes no other directory for it", () => {
    const place = createPlace();
    const elsewhere = join(place.top, "elsewhere");
    asPlainUser(() => {
      for (const path of [place.at("a"), elsewhere]) mkdirSync(path, { mode: 0o300 });
    });
    const seen = look(place);
    if (!seen) throw new Error("It cannot be listed.");
    asPlainUser(() => {
      rmdirSync(place.at("a"));
      symlinkSync(elsewhere, place.at("a"));
      expect(() => makeListable(seen.path, seen.identity)).toThrow("leads elsewhere");
      renameSync(place.at("a"), place.at("link"));
      renameSync(elsewhere, place.at("a"));
      expect(() => makeListable(seen.path, seen.identity)).toThrow("it was replaced by another directory");
    });
    expect(place.modeOf("a")).toBe("300");
  });

  testUnless(ONLY_ROOT_CAN)("is not possible if it belongs to somebody else, which is reported once", () => {
    const place = createPlace();
    asPlainUser(() => place.keeper.begin(() => []));
    mkdirSync(place.at("theirs"), { mode: 0o711 });
    const said = asPlainUser(() => place.keeper.finish(BACKGROUND));
    expect(said).toEqual(["theirs cannot be listed: read-only in the sandbox from now on"]);
    const look = asPlainUser(() => place.keeper.begin(() => []));
    expect([...look.unlistable.values()].map(({ path }) => path)).toEqual([place.at("theirs")]);
    expect(asPlainUser(() => place.keeper.finish(BACKGROUND))).toEqual([]);
  });
});
