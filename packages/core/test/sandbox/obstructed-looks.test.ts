import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { findUnconsented } from "../../src/sandbox/protected-files/changes.ts";
import { makeCutOff } from "../support/cut-off-session.ts";
import { makeKeptProject } from "../support/kept-project.ts";
import { asPlainUser, findPlainUserObstacle, giveToPlainUser } from "../support/plain-user.ts";
import { describeUnless } from "../support/test-unless.ts";

const BACKGROUND = new Promise<never>(() => {});

/** Begins a command after which looking fails until `clear` is called. */
function obstruct(place: ReturnType<typeof makeKeptProject>) {
  let isObstructed = true;
  const written = () => {
    if (isObstructed) throw new Error("ENOTDIR: not a directory, lstat");
    return [];
  };
  place.keeper.begin(written);
  return {
    clear() {
      isObstructed = false;
    },
  };
}

describe("if a file has replaced a directory", () => {
  test("a killed session is still cleaned up after", () => {
    const place = makeKeptProject();
    place.put("docs/real.txt");
    symlinkSync("real.txt", place.at("docs/CLAUDE.md"));
    const { tidy, told } = makeCutOff(place, () => {
      rmSync(place.at("docs"), { recursive: true });
      place.put("docs", "in its place\n");
      place.put("AGENTS.md", "CANARY\n");
    });
    expect([tidy(), place.moved()]).toEqual([true, ["AGENTS.md"]]);
    expect(told.at(-1)).toEndWith("the link docs/CLAUDE.md, which led to real.txt, is gone");
  });

  test("an approved file that is missing is no reason to keep it", () => {
    const place = makeKeptProject();
    place.put("a", "no directory\n");
    expect(findUnconsented(place.at("a/.vscode"), [place.at("a/.vscode/x.json")])).toEqual([
      place.at("a/.vscode"),
    ]);
  });
});

describe("what cannot be scanned while a command runs in the background", () => {
  test("is scanned the next time", () => {
    const place = makeKeptProject();
    const { clear } = obstruct(place);
    expect(() => place.keeper.finish(BACKGROUND)).toThrow("ENOTDIR");
    place.put("CLAUDE.md", "CANARY\n");
    place.keeper.passTime();
    expect(place.moved()).toEqual([]);
    clear();
    place.keeper.passTime();
    expect(place.moved()).toEqual(["CLAUDE.md"]);
  });

  test("and not when it ends is not attributed to anybody else: the next command finds it moved away", async () => {
    const place = makeKeptProject();
    const { clear } = obstruct(place);
    const { promise, resolve } = Promise.withResolvers<void>();
    expect(() => place.keeper.finish(promise)).toThrow("ENOTDIR");
    place.put("CLAUDE.md", "CANARY\n");
    resolve();
    await promise;
    await Promise.resolve();
    expect(place.moved()).toEqual([]);
    clear();
    place.begin();
    expect([place.moved(), existsSync(place.at("CLAUDE.md"))]).toEqual([["CLAUDE.md"], false]);
  });
});

describe("what cannot be scanned at the end of a session", () => {
  test("does not prevent the session from ending", async () => {
    const place = makeKeptProject();
    obstruct(place);
    expect(() => place.keeper.finish(BACKGROUND)).toThrow("ENOTDIR");
    expect(await place.keeper.close()).toBeUndefined();
  });
});

describeUnless(findPlainUserObstacle())("a directory in node_modules whose entries cannot be read", () => {
  test("does not prevent anything else from being moved away", async () => {
    const place = makeKeptProject();
    giveToPlainUser(place.root, `${place.root}/..`);
    const before = asPlainUser(() => {
      mkdirSync(place.at("node_modules/a/b"), { recursive: true });
      place.put("docs/CLAUDE.md");
      return place.begin();
    });
    expect(before.isComplete).toBe(true);
    asPlainUser(() => {
      renameSync(place.at("docs"), place.at("node_modules/a/b/docs"));
      chmodSync(place.at("node_modules/a"), 0o644);
      place.put("AGENTS.md", "CANARY\n");
      place.keeper.finish(Promise.resolve());
      chmodSync(place.at("node_modules/a"), 0o755);
    });
    expect([place.moved(), readdirSync(place.root)]).toEqual([["AGENTS.md"], ["node_modules"]]);
  });
});
