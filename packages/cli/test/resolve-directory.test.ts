import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { resolveDirectory } from "../src/session/project-directory.ts";

test("resolveDirectory() names a deleted working directory if its name is known", () => {
  const say = (directory: string | undefined, cwd: string) => () => resolveDirectory(directory, cwd);
  const rest = "not a usable directory";
  expect(say(undefined, "/no/such/place")).toThrow(`the working directory /no/such/place: ${rest}`);
  expect(say(undefined, "")).toThrow(`the working directory: ${rest}`);
  expect(say(".", "")).toThrow(`-C .: ${rest}`);
  expect(resolveDirectory(tmpdir(), "")).toBe(resolveDirectory(undefined, tmpdir()));
});
