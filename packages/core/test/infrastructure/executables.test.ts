import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanPath, resolveExecutable } from "../../src/infrastructure/process/environment.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function makeProgram(directory: string, name: string): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), "#!/bin/sh\n");
  chmodSync(join(directory, name), 0o755);
  return join(directory, name);
}

describe("resolveExecutable", () => {
  test("finds the first program in PATH that is not the project's, by real path", () => {
    const top = makeTempDir();
    const project = join(top, "project");
    makeProgram(join(project, "bin"), "tool");
    mkdirSync(join(top, "sly"));
    symlinkSync(join(project, "bin", "tool"), join(top, "sly", "tool"));
    symlinkSync(join(project, "bin"), join(top, "link"));
    const real = makeProgram(join(top, "real"), "tool");
    const PATH = [
      ".",
      "",
      "bin",
      join(project, "bin"),
      join(top, "sly"),
      join(top, "link"),
      join(top, "real"),
    ];
    const search = { environment: { PATH: PATH.join(":") }, outside: project };
    expect(resolveExecutable("tool", search)).toBe(real);
  });

  test("skips directories and files that are not executable", () => {
    const top = makeTempDir();
    mkdirSync(join(top, "a", "tool"), { recursive: true });
    makeProgram(join(top, "b"), "tool");
    chmodSync(join(top, "b", "tool"), 0o644);
    const search = { environment: { PATH: `${top}/a:${top}/b` }, outside: "/nowhere" };
    expect(resolveExecutable("tool", search)).toBeUndefined();
  });

  test("caches its result", () => {
    const top = makeTempDir();
    const search = { environment: { PATH: `${top}/a:${top}/b` }, outside: "/nowhere" };
    const first = makeProgram(join(top, "b"), "tool");
    expect(resolveExecutable("tool", search)).toBe(first);
    makeProgram(join(top, "a"), "tool");
    expect(resolveExecutable("tool", search)).toBe(first);
  });

  test("finds the system's programs without a PATH, and if the whole disk is the project", () => {
    expect(resolveExecutable("sh", { environment: {}, outside: "/nowhere" })).toMatch(/^\/(usr\/)?bin\/sh$/);
    expect(resolveExecutable("sh", { environment: {}, outside: "/" })).toMatch(/^\/(usr\/)?bin\/sh$/);
  });
});

test("cleanPath removes the project itself and moves its node_modules/.bin to the end", () => {
  const top = makeTempDir();
  const root = join(top, "project");
  const cwd = join(root, "packages");
  const kept = [
    join(root, "node_modules", ".bin"),
    join(root, ".venv", "bin"),
    join(top, "node_modules", ".bin"),
  ];
  for (const directory of [cwd, ...kept]) mkdirSync(directory, { recursive: true });
  symlinkSync(root, join(top, "alias"));
  const [projectBin, virtualEnvironment, otherBin] = kept;
  const path = [
    projectBin,
    ".",
    "",
    "bin",
    root,
    cwd,
    join(top, "alias"),
    virtualEnvironment,
    otherBin,
    "/usr/bin",
  ];
  expect(cleanPath(path.join(":"), { root, cwd })).toBe(
    [virtualEnvironment, otherBin, "/usr/bin", projectBin].join(":"),
  );
});
