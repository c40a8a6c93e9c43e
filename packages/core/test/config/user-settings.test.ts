import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readUserSettings } from "../../src/config/user-settings.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function makeFile(content: string | Buffer) {
  const base = makeTempDir();
  const path = join(base, "diligent", "x.json");
  mkdirSync(join(base, "diligent"));
  writeFileSync(path, content);
  return { path, environment: { XDG_CONFIG_HOME: base } };
}

test("members are read in order, with the positions of names and elements", async () => {
  const { path, environment } = makeFile('{\n  // why\n  "a.b": ["x",\n    "y"],\n  "c": "{env:HOME}",\n}');
  const reading = await readUserSettings(environment, "x.json");
  if (reading.kind !== "settings") throw new Error(reading.kind);
  const { settings } = reading;
  expect([...settings.values]).toEqual([
    ["a.b", ["x", "y"]],
    ["c", "{env:HOME}"],
  ]);
  expect(settings.formatProblem("a.b", "bad")).toBe(`${path}:3:3: key "a.b": bad`);
  expect(settings.formatProblem("a.b", "bad", 1)).toBe(`${path}:4:5: key "a.b": bad`);
  expect(settings.formatProblem("missing", "bad")).toBe(`${path}: key "missing": bad`);
  expect(settings.warnings).toEqual([]);
});

test("a duplicate name is a warning", async () => {
  const { path, environment } = makeFile('{ "a.b": 1,\n"a.b": 2 }');
  const reading = await readUserSettings(environment, "x.json");
  if (reading.kind !== "settings") throw new Error(reading.kind);
  expect([...reading.settings.values]).toEqual([["a.b", 2]]);
  expect(reading.settings.warnings).toEqual([
    `${path}:2:1: key "a.b": it is set more than once; the last one applies`,
  ]);
});

test("without a file, without a home and without a directory there are no settings", async () => {
  expect(await readUserSettings({ XDG_CONFIG_HOME: makeTempDir() }, "x.json")).toEqual({ kind: "none" });
  expect(await readUserSettings({ HOME: "/" }, "x.json")).toEqual({ kind: "none" });
});

for (const [name, content, problem] of [
  ["no JSON", "{ a: 1 }", ":1:3: Invalid JSON: keys and strings must be double-quoted"],
  ["no object", "5", ":1:1: expected an object in { }"],
  ["other bytes", Buffer.from([0x7b, 0xff, 0x7d]), ": it cannot be read: it must be UTF-8, but is "],
  ["a large file", " ".repeat(256 * 1024 + 1), ": it cannot be read: it is larger than 262144 bytes"],
  ["a forbidden name", '{ "__proto__": {} }', ':1:3: key "__proto__": no setting can have this name'],
] as const)
  test(`${name} is reported with its position`, async () => {
    const { path, environment } = makeFile(content);
    const reading = await readUserSettings(environment, "x.json");
    expect(reading).toEqual({ kind: "broken", problem: expect.stringContaining(`${path}${problem}`) });
  });
