import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  createTrackedTest,
  findTrackedState,
  hasTrackedContent,
} from "../../src/infrastructure/paths/git-index.ts";
import { temporaryBase } from "../support/temp-dir.ts";

let top: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(temporaryBase(), "git-index-")));
});

afterEach(() => rmSync(top, { recursive: true, force: true }));

const project = () => join(top, "project");

function git(...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["git", ...args], {
    cwd: project(),
    env: { HOME: top, PATH: process.env.PATH },
  });
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
}

function write(path: string): void {
  mkdirSync(dirname(join(project(), path)), { recursive: true });
  writeFileSync(join(project(), path), `content of ${path}\n`);
}

const LONG = `.diligent/${"d".repeat(200)}/${"e".repeat(200)}/f`;
const TRACKED = [
  ".diligent/sessions/20260101000000-aaaaaa.jsonl",
  ".diligent/sessions/20260101000000-bbbbbb.jsonl",
  "a",
  "ab",
  LONG,
  "src/ä/index.ts",
];
const UNTRACKED = [
  ".diligent/sessions/20260101000000-aaaaa",
  ".diligent/sessions/20260102000000-cccccc.jsonl",
  "index.ts",
  "b",
];

function makeRepository(): void {
  mkdirSync(project());
  git("init", "-q");
  for (const path of [...TRACKED, ...UNTRACKED]) write(path);
}

const FORMS: [string, () => void][] = [
  ["of version 2", () => {}],
  ["of version 3, for entries with more flags", () => git("add", "-N", "b")],
  ["of version 4, with compressed paths", () => git("update-index", "--index-version", "4")],
  ["that is split", () => git("update-index", "--split-index")],
  [
    "of version 4 that is split, with entries of its own",
    () => {
      git("update-index", "--index-version", "4");
      git("update-index", "--split-index");
      write("src/later.ts");
      git("add", "-f", "src/later.ts");
    },
  ],
];

describe.each(FORMS)("in an index %s", (form, change) => {
  test("exactly the files that git tracks are reported as tracked", () => {
    makeRepository();
    git("add", "-f", "--", ...TRACKED);
    change();
    const state = createTrackedTest(project());
    const added = form.includes("version 3") ? ["b"] : [];
    expect(TRACKED.filter((path) => state(path) !== "tracked")).toEqual([]);
    expect(UNTRACKED.filter((path) => state(path) !== "untracked")).toEqual(added);
    if (form.includes("of its own")) expect(state("src/later.ts")).toBe("tracked");
    expect([".diligent", "src/ä", "src"].map(state)).toEqual(["tracked", "tracked", "tracked"]);
    expect(["sessions", "sr", ".diligent/s", "none"].map(state)).toEqual(Array(4).fill("untracked"));
  });

  test("a file has tracked content until it changes", () => {
    makeRepository();
    git("add", "-f", "--", ...TRACKED);
    change();
    expect(TRACKED.map((path) => hasTrackedContent(project(), path))).toEqual(TRACKED.map(() => true));
    for (const path of TRACKED) writeFileSync(join(project(), path), "changed");
    expect(TRACKED.map((path) => hasTrackedContent(project(), path))).toEqual(TRACKED.map(() => false));
  });
});

test("without a repository or an index nothing is tracked", () => {
  mkdirSync(project());
  expect(findTrackedState(project(), "a")).toBe("untracked");
  git("init", "-q");
  expect(findTrackedState(project(), "a")).toBe("untracked");
});

test("tracking is unknown in an index that is damaged or lacks its shared part", () => {
  makeRepository();
  git("add", "-f", "--", ...TRACKED);
  git("update-index", "--split-index");
  for (const name of new Bun.Glob("sharedindex.*").scanSync(join(project(), ".git")))
    rmSync(join(project(), ".git", name));
  expect(findTrackedState(project(), "b")).toBe("unknown");
  const index = join(project(), ".git", "index");
  truncateSync(index, 8);
  expect(findTrackedState(project(), "a")).toBe("unknown");
  writeFileSync(index, "DIRC\0\0\0\x04\0\0\0\x05 no entries follow, whatever the number of them says");
  expect(findTrackedState(project(), "a")).toBe("unknown");
});
