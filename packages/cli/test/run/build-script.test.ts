import { afterEach, beforeEach, expect, type Mock, spyOn, test } from "bun:test";
import { runBuildScript } from "../../scripts/run-build-script.ts";
import { UsageError } from "../../src/errors.ts";

let printed: Mock<typeof console.log>;
let complained: Mock<typeof console.error>;

beforeEach(() => {
  printed = spyOn(console, "log").mockImplementation(() => {});
  complained = spyOn(console, "error").mockImplementation(() => {});
});

afterEach(() => {
  printed.mockRestore();
  complained.mockRestore();
});

/** The exit code, the output, and the values that the work was done with. */
async function run(...argv: string[]) {
  const done: object[] = [];
  const script = {
    name: "make",
    usage: ["bun run make [--target T] [--out DIR]", "T: a or b."],
    options: { target: "a", out: "here" },
    async main(values: Readonly<Record<"target" | "out", string>>) {
      if (values.target === "c") throw new UsageError("There is no target c.");
      if (values.target === "broken") throw new Error("it broke");
      done.push(values);
    },
  };
  const code = await runBuildScript(script, argv);
  return { code, done, stdout: printed.mock.calls.flat(), stderr: complained.mock.calls.flat() };
}

test("a build script gets the given options, or their defaults", async () => {
  const quiet = { code: 0, stdout: [], stderr: [] };
  expect(await run()).toEqual({ ...quiet, done: [{ target: "a", out: "here" }] });
  expect(await run("--out=there", "--target", "b")).toEqual({
    ...quiet,
    done: [{ target: "b", out: "there" }],
  });
});

test.each(["--help", "-h"])("a build script prints its usage for %s and does nothing", async (option) => {
  const stdout = ["bun run make [--target T] [--out DIR]\nT: a or b."];
  expect(await run("--target", "c", option)).toEqual({ code: 0, done: [], stdout, stderr: [] });
});

test.each([
  [["--target", "c"], "There is no target c."],
  [["--nope"], "Unknown option '--nope'"],
  [["word"], "Unexpected argument 'word'"],
  [["--out"], "Option '--out <value>' argument missing"],
])("a build script refuses %p with its usage", async (argv, complaint) => {
  const stderr = [`make: ${complaint}\nbun run make [--target T] [--out DIR]`];
  expect(await run(...argv)).toEqual({ code: 2, done: [], stdout: [], stderr });
});

test("a build script rejects with the error of its work, not with a usage message", async () => {
  await expect(run("--target", "broken")).rejects.toThrow("it broke");
});
