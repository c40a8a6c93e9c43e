import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openBox } from "../../src/sandbox/open-sandbox.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test("a project that contains diligent's session files cannot be sandboxed", async () => {
  const top = makeTempDir();
  const root = join(top, "project");
  mkdirSync(join(root, "state"), { recursive: true });
  symlinkSync("project/state", join(top, "link"));
  for (const state of [join(root, "state"), join(top, "link")]) {
    const environment = { PATH: "/usr/bin:/bin", HOME: join(top, "home"), XDG_STATE_HOME: state };
    const options = { environment, root, mayLeave: true, directory: () => undefined };
    expect(await openBox({ kind: "bubblewrap", path: "/nowhere/bwrap" }, options)).toEqual({
      problem: `the project ${root} contains diligent's session directory`,
    });
  }
});
