import { expect, test } from "bun:test";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasDefinitions, SKILL_LOCATIONS } from "../../../src/extensions/definitions/directories.ts";
import { makeTempDir } from "../../support/temp-dir.ts";

test("hasDefinitions() is false while every directory is empty, and true once one has an entry", () => {
  const home = realpathSync(makeTempDir());
  const root = join(home, "project");
  const skills = join(root, ".diligent", "skills");
  mkdirSync(skills, { recursive: true });
  const place = { cwd: root, root, environment: { HOME: home } };
  const has = () => hasDefinitions(place, SKILL_LOCATIONS);

  expect(has()).toBe(false);
  mkdirSync(join(skills, "check"));
  expect(has()).toBe(true);
});

test("hasDefinitions() is true for a directory of the user that has a file", () => {
  const home = realpathSync(makeTempDir());
  const root = join(home, "project");
  mkdirSync(root);
  mkdirSync(join(home, ".claude", "skills"), { recursive: true });
  writeFileSync(join(home, ".claude", "skills", "note.md"), "");

  expect(hasDefinitions({ cwd: root, root, environment: { HOME: home } }, SKILL_LOCATIONS)).toBe(true);
});
