import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { applyDamage, findForeign } from "../src/fuzz/damage.ts";
import { wrapEvents } from "../src/fuzz/streams.ts";
import { createTarget, formatOutcomes, parseFuzzArguments } from "../src/fuzz/target.ts";
import { FUZZ_TARGETS } from "../src/fuzz/targets/index.ts";

const SEED = 20;
const LIMIT_MS = 60_000;

const LEAVING_TARGET = `
import fc from "fast-check";
import { createTarget } from "../src/fuzz/target.ts";
const findProblem = () => void Promise.reject(new Error("lost"));
const target = createTarget({ name: "leaving", about: "", runs: { usual: 1, short: 1 }, values: fc.nat(), findProblem });
console.log((await target.search({ runs: 1, seed: 1 })).problem);
`;

describe("fuzzing with a few random values", () => {
  test.each(FUZZ_TARGETS)(
    "$about",
    async (target) => {
      const { problem, tried } = await target.search({ runs: target.runs.short, seed: SEED });
      expect(problem).toBeUndefined();
      expect(tried).toBe(target.runs.short);
    },
    LIMIT_MS,
  );
});

describe("a fuzz target", () => {
  const named = { about: "", runs: { usual: 100, short: 10 } };
  const values = fc.nat(1_000);
  const search = { runs: 100, seed: 1 };

  test("reports the smallest value that breaks it, and how to reproduce it", async () => {
    const target = createTarget({
      ...named,
      name: "small",
      values,
      findProblem: (value) => (value > 9 ? "it is large" : undefined),
    });
    const { problem = "" } = await target.search(search);
    expect(problem).toMatch(
      /^it is large\n {2}value: 10\n {2}again: bun run fuzz small --seed 1 --path [\d:]+$/,
    );
    const path = /--path ([\d:]+)/.exec(problem)?.[1];
    expect(await target.search({ ...search, path })).toEqual({ tried: 1, problem });
  });

  test("reports an exception as a problem", async () => {
    const target = createTarget({
      ...named,
      name: "throwing",
      values,
      findProblem: () => {
        throw new Error("no such file");
      },
    });
    expect((await target.search(search)).problem).toStartWith("no such file\n");
  });

  test("reports an unhandled rejection as a problem", async () => {
    // In a separate process: here, the test runner would catch such a rejection.
    const child = Bun.spawn([process.execPath, "-e", LEAVING_TARGET], {
      cwd: import.meta.dir,
      stdout: "pipe",
    });
    expect(await child.stdout.text()).toStartWith("unhandled rejection: Error: lost\n");
  });

  test("that holds reports how many values were tried, and leaves no directory", async () => {
    const made: string[] = [];
    const target = createTarget({
      ...named,
      name: "fair",
      values,
      findProblem(_, makeDirectory) {
        made.push(makeDirectory());
        return undefined;
      },
    });
    expect(await target.search({ ...search, runs: 5 })).toEqual({ tried: 5 });
    const left = await Promise.all(made.map((path) => Bun.file(path).exists()));
    expect([made.length, left.includes(true)]).toEqual([5, false]);
  });
});

test("has a line in the table for its result", () => {
  const target = { name: "edits", about: "only what was asked for" };
  const rows = formatOutcomes([
    { target, outcome: { tried: 12 }, tookMs: 1_234 },
    { target: { name: "x", about: "y" }, outcome: { tried: 3, problem: "no" }, tookMs: 0 },
  ]);
  expect(rows.split("\n")).toEqual([
    "target  tried  broken   took  property",
    "edits      12       0  1.2 s  only what was asked for",
    "x           3       1  0.0 s  y",
  ]);
});

describe("arguments of fuzz", () => {
  const known = ["edits", "config"];

  test("select targets, runs, a seed and a path", () => {
    expect(parseFuzzArguments(["edits", "--runs", "3", "--seed", "4", "--path", "7:0:1"], known)).toEqual({
      names: ["edits"],
      runs: 3,
      seed: 4,
      path: "7:0:1",
    });
    expect(parseFuzzArguments([], known)).toMatchObject({ names: [], runs: undefined, path: undefined });
  });

  test.each([
    [["edit"], "edit: unknown. Options: --runs N, --seed N. Targets: edits, config."],
    [["edits", "--seed", "1", "--path"], "--path needs the path reported with a problem"],
    [["--seed", "1", "--path", "1:2"], "--path needs exactly one target"],
    [["edits", "--path", "1:2"], "--path needs exactly one target and --seed."],
  ])("%p are refused", (argv, message) => {
    expect(() => parseFuzzArguments(argv, known)).toThrow(message);
  });
});

test("damage leaves the bytes to keep unchanged", () => {
  const whole = Buffer.from("head and the rest");
  const bytes = Buffer.from("X");
  const damages = (["cut", "overwrite", "insert", "remove", "zeros", "repeat"] as const).map((kind) =>
    Buffer.from(applyDamage(whole, [{ kind, at: 0.5, length: 2, bytes }], 5)).toString("latin1"),
  );
  expect(damages).toEqual([
    "head and th",
    "head and thX rest",
    "head and thXe rest",
    "head and threst",
    "head and th\0\0rest",
    "head and the e rest",
  ]);
});

describe("findForeign", () => {
  const allowed = { lineFeeds: true, styles: true };

  test.each(["a\n\x1b[1;31mb\x1b[0m", "日本 👩‍👩‍👧 ❤️ é", ""])("finds nothing in %j", (text) => {
    expect(findForeign(text, allowed)).toBeUndefined();
  });

  test.each([
    ["\x1b[2J", "at 0: \\u{1b}[2J"],
    ["a\x1b[31", "at 1: \\u{1b}[31"],
    ["a\tb", "at 1: \\u{9}b"],
    ["a\u202eb", "at 1: \\u{202e}b"],
    ["a\u{e0041}", "at 1: \\u{e0041}"],
    ["\ud800", "at 0: \\u{d800}"],
    ["\x9b1m", "at 0: \\u{9b}1m"],
  ])("finds the control sequence in %j", (text, found) => {
    expect(findForeign(text, allowed)).toBe(found);
  });
});

test("the events of a stream are wrapped in everything that the format allows", () => {
  const wrapping = { lineEnd: "\r\n", hasSpaceBehindColon: false, hasSplitData: true } as const;
  const body = 'event: a\ndata: {"b":1}\n\ndata: [DONE]\n\n';
  expect(wrapEvents(body, { ...wrapping, comments: true, unknownFields: true }).split("\r\n")).toEqual([
    ...[
      ": keep-alive",
      ":",
      "",
      "id: 7",
      "nobody-knows: it",
      "retry: 10",
      "event:a",
      "data:{",
      'data:"b":1}',
      "",
    ],
    ...[": keep-alive", ":", "", "id: 7", "nobody-knows: it", "retry: 10", "data:[DONE]", ""],
    "",
  ]);
});
