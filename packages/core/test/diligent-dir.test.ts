import { expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  ensureDiligentDir,
  findDiligentDirProblem,
  resolvePaths,
} from "../src/infrastructure/diligent-dir.ts";
import { makeTempDir } from "./support/temp-dir.ts";
import { ONLY_ROOT_CAN, ROOT_CAN_ANYWAY, testUnless } from "./support/test-unless.ts";

const mode = (path: string) => statSync(path).mode & 0o777;

test("creates private folders, the shared skills folder and a .gitignore", async () => {
  const project = makeTempDir();
  const paths = await ensureDiligentDir(project);
  expect(paths).toEqual(resolvePaths(project));
  expect([paths.root, paths.sessions, paths.knowledge].map(mode)).toEqual([0o700, 0o700, 0o700]);
  expect(statSync(paths.skills).isDirectory()).toBe(true);
  const ignored = readFileSync(join(paths.root, ".gitignore"), "utf8").split("\n");
  expect(ignored).toContain("sessions/");
  expect(ignored).toContain("knowledge/");
});

test("a second call changes nothing", async () => {
  const project = makeTempDir();
  const paths = await ensureDiligentDir(project);
  writeFileSync(join(paths.root, ".gitignore"), "mine\n");
  writeFileSync(join(paths.sessions, "a.jsonl"), "kept\n");
  await ensureDiligentDir(project);
  expect(readFileSync(join(paths.root, ".gitignore"), "utf8")).toBe("mine\n");
  expect(readFileSync(join(paths.sessions, "a.jsonl"), "utf8")).toBe("kept\n");
});

test("a file in place of .diligent is an error that names it", async () => {
  const project = makeTempDir();
  writeFileSync(join(project, ".diligent"), "");
  await expect(ensureDiligentDir(project)).rejects.toThrow(".diligent");
});

test("a file in place of a directory inside it is an error that names it", async () => {
  const project = makeTempDir();
  const path = join(project, ".diligent", "knowledge");
  mkdirSync(join(project, ".diligent"));
  writeFileSync(path, "");
  await expect(ensureDiligentDir(project)).rejects.toThrow(`${path} is a file, not a directory`);
});

test("its directories that others could read become private", async () => {
  const project = makeTempDir();
  const paths = await ensureDiligentDir(project);
  chmodSync(paths.sessions, 0o777);
  await ensureDiligentDir(project);
  expect(mode(paths.sessions)).toBe(0o700);
});

test.each([".diligent", ".diligent/sessions"])("a symbolic link at %s is not followed", async (link) => {
  const project = makeTempDir();
  const elsewhere = makeTempDir();
  mkdirSync(join(project, dirname(link)), { recursive: true });
  symlinkSync(elsewhere, join(project, link));
  await expect(ensureDiligentDir(project)).rejects.toThrow("is a symbolic link");
  expect(readdirSync(elsewhere).filter((name) => name === ".gitignore")).toEqual([]);
});

test("an obstacle is described as what it is", async () => {
  const say = async (plant: (path: string) => void) => {
    const project = makeTempDir();
    const path = join(project, ".diligent");
    plant(path);
    const problem = findDiligentDirProblem(resolvePaths(project));
    const thrown = await ensureDiligentDir(project).then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect(problem).toBe(thrown);
    return problem?.replace(path, "IT");
  };
  expect(await say((path) => symlinkSync("/no/such/place", path))).toBe("IT is a broken symbolic link");
  expect(await say((path) => symlinkSync(makeTempDir(), path))).toBe("IT is a symbolic link");
  expect(await say((path) => symlinkSync("/dev/null", path))).toBe("IT is a symbolic link");
  expect(await say((path) => writeFileSync(path, ""))).toBe("IT is a file, not a directory");
  expect(await say(() => {})).toBeUndefined();
});

test("dangling links are neither followed nor obstacles", async () => {
  const project = makeTempDir();
  const outside = join(makeTempDir(), "outside");
  mkdirSync(join(project, ".diligent"));
  for (const name of [".gitignore", "skills"]) symlinkSync(outside, join(project, ".diligent", name));
  await ensureDiligentDir(project);
  expect(statSync(outside, { throwIfNoEntry: false })).toBeUndefined();
});

testUnless(ONLY_ROOT_CAN)("a directory of another user's is not used", async () => {
  const project = makeTempDir();
  mkdirSync(join(project, ".diligent"));
  chownSync(join(project, ".diligent"), 12_345, 12_345);
  await expect(ensureDiligentDir(project)).rejects.toThrow("belongs to another user");
});

testUnless(ROOT_CAN_ANYWAY)("a project that cannot be written to is an error", async () => {
  const project = makeTempDir();
  chmodSync(project, 0o500);
  await expect(ensureDiligentDir(project)).rejects.toThrow(project);
});
