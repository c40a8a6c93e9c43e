import { afterEach, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUN_DIRECTORY, findBunDirectory } from "./support/bun-directory.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const places: TemporaryProject[] = [];

afterEach(() => {
  for (const place of places.splice(0)) place.remove();
});

/** What `npx bun` creates: the executable under another name, and a directory of links to it. */
function installWithNpm(): { executable: string; links: string; other: string } {
  const place = createTemporaryProject();
  places.push(place);
  const links = join(place.top, "links");
  const other = join(place.top, "other");
  mkdirSync(links);
  mkdirSync(other);
  const executable = join(place.top, "bun.exe");
  writeFileSync(executable, "");
  symlinkSync(executable, join(links, "bun"));
  writeFileSync(join(other, "bun"), "");
  return { executable, links, other };
}

test("findBunDirectory() finds a Bun installed by npm in the directory of links that npx adds to PATH", () => {
  const { executable, links, other } = installWithNpm();
  expect(findBunDirectory(executable, `${other}:relative:${links}`)).toBe(links);
});

test("findBunDirectory() prefers the running Bun to another one in PATH", () => {
  const { executable, other } = installWithNpm();
  expect(() => findBunDirectory(executable, other)).toThrow(executable);
});

test("the tests start the Bun that runs them", () => {
  const { stdout } = Bun.spawnSync(["bun", "--version"], { env: { PATH: BUN_DIRECTORY } });
  expect(stdout.toString().trim()).toBe(Bun.version);
});
