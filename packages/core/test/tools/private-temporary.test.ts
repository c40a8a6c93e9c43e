import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toPrivatePath } from "../../src/tools/target.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function makeView() {
  const top = makeTempDir();
  const [system, directory, kept] = [
    join(top, "system"),
    join(top, "system/session/tmp"),
    join(top, "system/app"),
  ];
  mkdirSync(directory, { recursive: true });
  mkdirSync(kept);
  return { system, directory, kept, view: { shared: [system], kept: [kept], directory } };
}

describe("a path in the system's temporary directory", () => {
  test("means the file there that commands see, and the new one that they will see", () => {
    const { system, directory, view } = makeView();
    writeFileSync(join(directory, "made"), "");
    expect(toPrivatePath(join(system, "made"), view)).toBe(join(directory, "made"));
    expect(toPrivatePath(join(system, "new/file"), view)).toBe(join(directory, "new/file"));
    expect(toPrivatePath(system, view)).toBe(directory);
  });

  test("means the user's file if commands have none of that name, unless the tool creates it", () => {
    const { system, directory, view } = makeView();
    writeFileSync(join(system, "notes"), "");
    expect(toPrivatePath(join(system, "notes"), view)).toBe(join(system, "notes"));
    expect(toPrivatePath(join(system, "notes"), view, { creates: true })).toBe(join(directory, "notes"));
  });

  test("stays unchanged in the project, in the directory itself and anywhere else", () => {
    const { system, directory, kept, view } = makeView();
    for (const path of [join(kept, "new"), join(directory, "new"), kept, `${system}-twin/new`, "/etc/hosts"])
      expect(toPrivatePath(path, view, { creates: true })).toBe(path);
  });
});
