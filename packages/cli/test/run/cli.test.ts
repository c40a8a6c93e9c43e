import { describe, expect, test } from "bun:test";
import { runCli } from "../../src/run-cli.ts";
import { FakeIo } from "../support/fake-io.ts";

async function run(argv: string[], prepare: (io: FakeIo) => void = () => {}) {
  const io = new FakeIo();
  prepare(io);
  return { exitCode: await runCli(argv, io), stdout: io.stdout.text, stderr: io.stderr.text };
}

describe("answers that need nothing else", () => {
  test("--version prints one line, also next to other words", async () => {
    const line = /^diligent \d+\.\d+\.\d+( \([0-9a-f]{7}\))?\n$/;
    const version = { exitCode: 0, stdout: expect.stringMatching(line), stderr: "" };
    expect(await run(["-v"])).toEqual(version);
    expect(await run(["--version", "x"])).toEqual(version);
  });

  test("--help prints to stdout", async () => {
    const { exitCode, stdout, stderr } = await run(["--help"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toStartWith("Usage: diligent [options] [prompt]");
  });

  test("--version and --help load no provider and no schema library", async () => {
    const check = `
      await (await import(${JSON.stringify(`${import.meta.dir}/../../src/run-cli.ts`)})).runCli(["--help"], { stdout: { write() {} } });
      const { runCli } = await import(${JSON.stringify(`${import.meta.dir}/../../src/run-cli.ts`)});
      await runCli(["--modle"], { stderr: { write() {} } });
      console.log(Object.keys(require.cache).filter((path) => /provider|zod|anthropic/.test(path)).length);`;
    const child = Bun.spawn([process.execPath, "-e", check], { stdout: "pipe", stderr: "inherit" });
    expect(await child.stdout.text()).toBe("0\n");
  });
});

test("on Windows one line recommends WSL", async () => {
  const windows = await run(["-p", "hi"], (io) => {
    io.platform = "win32";
  });
  expect(windows).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: expect.stringMatching(/^diligent: .*WSL.*\n$/),
  });
});

test("a usage error is one line on stderr with exit code 2", async () => {
  expect(await run(["--modle", "x"])).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: "diligent: unknown option --modle (did you mean --model?)\n",
  });
});

test("an unexpected error is not swallowed", async () => {
  const broken = run(["--help"], (io) => {
    io.stdout.write = () => {
      throw new Error("broken");
    };
  });
  await expect(broken).rejects.toThrow("broken");
});
