import { describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findRipgrep, type RipgrepOptions, runRipgrep } from "../../src/infrastructure/process/ripgrep.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function search(files: Record<string, string>, changes: Partial<RipgrepOptions> = {}) {
  const cwd = makeTempDir();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  const records: string[] = [];
  const options: RipgrepOptions = {
    args: ["--no-filename", "-e", "x", "--", "./"],
    cwd,
    environment: {},
    search: { environment: {}, outside: cwd },
    signal: new AbortController().signal,
    separator: "\n",
    onRecord: (record) => records.push(record) > 0,
    ...changes,
  };
  return { records, ended: runRipgrep(options) };
}

describe("runRipgrep", () => {
  test("passes on each record, also the last one without a line end", async () => {
    const { records, ended } = search({ a: "x1\nno\nx2" });
    expect(await ended).toEqual({ exitCode: 0, errors: "", stopped: undefined });
    expect(records).toEqual(["x1", "x2"]);
  });

  test("keeps characters intact that arrive in two pieces", async () => {
    const { records, ended } = search({ a: "xé€😀\n".repeat(50_000) });
    await ended;
    expect(new Set(records)).toEqual(new Set(["xé€😀"]));
    expect(records.length).toBe(50_000);
  });

  test("ends as soon as no more records are needed", async () => {
    let count = 0;
    const onRecord = () => ++count < 10;
    const { ended } = search({ a: "x\n".repeat(1_000_000) }, { onRecord });
    expect((await ended).stopped).toBe("limit");
    expect(count).toBe(10);
  });

  test("ends with the signal, also while it waits for a pipe that nobody writes to", async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    const cwd = makeTempDir();
    Bun.spawnSync(["mkfifo", join(cwd, "pipe")]);
    const { ended } = search({}, { cwd, args: ["x", "./pipe"], signal: abort.signal });
    expect((await ended).stopped).toBe("abort");
  });

  test("is ended together with the program", async () => {
    const cwd = makeTempDir();
    Bun.spawnSync(["mkfifo", join(cwd, "pipe")]);
    const { ended } = search({}, { cwd, args: ["x", "./pipe"] });
    await Bun.sleep(50);
    await endAllProcesses();
    expect((await ended).exitCode).not.toBe(0);
  });

  test("an error has ripgrep's own message", async () => {
    const { ended } = search({}, { args: ["(", "./"] });
    expect(await ended).toEqual({
      exitCode: 2,
      errors: expect.stringContaining("unclosed group"),
      stopped: undefined,
    });
  });
});

describe("findRipgrep", () => {
  const missing = () => Promise.reject(new Error("not for this platform"));

  test("finds the one in PATH outside the project if the bundled one is missing", async () => {
    const directory = makeTempDir();
    writeFileSync(join(directory, "rg"), "#!/bin/sh\n");
    chmodSync(join(directory, "rg"), 0o755);
    const environment = { PATH: directory };
    expect(await findRipgrep({ environment, outside: "/nowhere" }, missing)).toBe(join(directory, "rg"));
    await expect(findRipgrep({ environment, outside: directory }, missing)).rejects.toThrow(
      "ripgrep is not installed",
    );
  });
});
