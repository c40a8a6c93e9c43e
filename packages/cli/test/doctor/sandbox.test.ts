import { afterEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "@diligent/core/tools";
import { checkSandbox } from "../../src/commands/doctor.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const FAILS = 'echo "bwrap: No permissions to create a new namespace" >&2; exit 1';
const NAMESPACES =
  "this system refuses user namespaces (because of a container, AppArmor or a kernel setting): ";
const NOT_THERE = "bubblewrap (the program bwrap) is not installed";
const INSTALL =
  "install the package bubblewrap: apt-get install, dnf install, pacman -S or apk add bubblewrap";

// A bwrap that fails would leave what it has started.
afterEach(endAllProcesses);

/** The result if `bwrap` is the shell script `script`, or is missing. */
async function check(sandbox: "auto" | "required" | "off", script?: string) {
  const place = createTemporaryProject();
  try {
    const bin = join(place.top, "bin");
    mkdirSync(bin);
    if (script !== undefined) writeFileSync(join(bin, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const PATH = script === undefined ? bin : `${bin}:/usr/bin:/bin`;
    const environment = { PATH, HOME: place.home };
    const found = await checkSandbox({ sandbox }, { environment, platform: "linux", root: place.project });
    return { ...found, bin };
  } finally {
    place.remove();
  }
}

test("doctor reports a bubblewrap that creates the session's sandbox as working", async () => {
  const { bin, ...found } = await check("auto", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  expect(found).toEqual({ name: "sandbox", status: "ok", message: `${bin}/bwrap works` });
});

test("doctor warns about a missing bubblewrap and says how to install it", async () => {
  expect(await check("auto")).toMatchObject({
    status: "warning",
    message: `${NOT_THERE}: commands need confirmation instead`,
    hint: INSTALL,
  });
});

test("doctor warns about a failing bubblewrap with its message and a hint", async () => {
  expect(await check("auto", FAILS)).toMatchObject({
    status: "warning",
    message: `${NAMESPACES}bwrap: No permissions to create a new namespace: commands need confirmation instead`,
    hint: expect.stringMatching(/\S/),
  });
});

test("doctor reports a problem if a sandbox is required and missing", async () => {
  expect(await check("required")).toMatchObject({
    status: "problem",
    message: `no command will run: "sandbox" is "required", and ${NOT_THERE}`,
    hint: INSTALL,
  });
});

test("doctor tries no sandbox if it is turned off", async () => {
  expect(await check("off", "touch $0.ran")).toMatchObject({
    status: "skipped",
    message: 'the setting "sandbox" is "off": commands need confirmation instead',
  });
});
