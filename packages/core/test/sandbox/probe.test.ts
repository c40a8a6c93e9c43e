import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { explainFailure, findRemedy } from "../../src/sandbox/detect.ts";
import { probeSandbox } from "../../src/sandbox/probe.ts";
import { findBoxProblem } from "../support/boxed-project.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const problem = await findBoxProblem();
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

afterEach(endAllProcesses);

/** A project, and a PATH in front of which `bwrap` is the shell script `script`; without it there is none at all. */
function createPlace(script?: string) {
  const top = makeTempDir();
  const [root, bin, home, session] = ["project", "bin", "home", "session"].map((name) => {
    const directory = join(top, name);
    mkdirSync(directory);
    return directory;
  });
  if (!root || !bin || !home || !session) throw new Error("There are four of them.");
  const program = join(bin, "bwrap");
  if (script !== undefined) writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const PATH = script === undefined ? bin : `${bin}:${SYSTEM_PATH}`;
  const probe = (limitMs?: number) =>
    probeSandbox({
      environment: { PATH, HOME: home },
      root,
      platform: "linux",
      directory: () => session,
      ...(limitMs !== undefined && { limitMs }),
    });
  return { top, root, program, probe, left: () => [...readdirSync(root), ...readdirSync(home)] };
}

describe("trying the sandbox", () => {
  test.skipIf(problem !== undefined)(
    "creates the sandbox of commands and runs one in it, and leaves nothing in the project",
    async () => {
      const real = Bun.which("bwrap") ?? "";
      const { top, program, probe, left } = createPlace(`echo x >> "\${0%/*}/../runs"; exec ${real} "$@"`);
      expect(await probe()).toEqual({ kind: "bubblewrap", path: program });
      expect(left()).toEqual([]);
      expect(await Bun.file(join(top, "runs")).text()).toStartWith("x\n");
    },
  );

  test("reports that bubblewrap is missing, and how to install it", async () => {
    expect(await createPlace().probe()).toEqual({
      problem: "bubblewrap (the program bwrap) is not installed",
      remedy: "install the package bubblewrap: apt-get install, dnf install, pacman -S or apk add bubblewrap",
    });
  });

  test("reports bubblewrap's message if it fails, and what to do", async () => {
    const { probe, left } = createPlace(
      'echo "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted" >&2; exit 1',
    );
    expect(await probe()).toEqual({
      problem:
        "this system refuses user namespaces (because of a container, AppArmor or a kernel setting): bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
      remedy: expect.any(String),
    });
    expect(left()).toEqual([]);
  });

  test("reports a failure without a known remedy", async () => {
    expect(await createPlace("echo 'bwrap: out of luck' >&2; exit 7").probe()).toEqual({
      problem: "bubblewrap cannot work here: bwrap: out of luck",
    });
  });

  test("gives up on a trial that never ends", async () => {
    const { program, probe } = createPlace("exec sleep 600");
    expect(await probe(50)).toEqual({
      problem: `${program} did not create a sandbox within 0.05 s`,
      remedy: expect.stringContaining("bwrap --unshare-all"),
    });
  });
});

describe("the remedy if user namespaces are refused", () => {
  const refused = explainFailure("bwrap: setting up uid map: Permission denied");

  /** A system with these kernel settings, in a container or not. */
  function remedyWith(settings: Readonly<Record<string, string>>, isContainer = false) {
    const top = makeTempDir();
    for (const [name, value] of Object.entries(settings)) {
      const path = join(top, name.replaceAll(".", "/"));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${value}\n`);
    }
    const mark = join(top, "mark");
    if (isContainer) writeFileSync(mark, "");
    expect(existsSync(mark)).toBe(isContainer);
    return findRemedy(refused, { settings: top, containerMarks: [mark] });
  }

  test("is the kernel setting that refuses them", () => {
    expect(remedyWith({ "kernel.unprivileged_userns_clone": "0" })).toBe(
      "allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1",
    );
    const open = { "kernel.unprivileged_userns_clone": "1" };
    expect(remedyWith({ ...open, "user.max_user_namespaces": "0" })).toBe(
      "allow them: sudo sysctl -w user.max_user_namespaces=15000",
    );
    expect(
      remedyWith({
        ...open,
        "user.max_user_namespaces": "15000",
        "kernel.apparmor_restrict_unprivileged_userns": "1",
      }),
    ).toContain("AppArmor requires a profile for bwrap");
  });

  test("is the container's options, or what to check", () => {
    expect(remedyWith({ "kernel.apparmor_restrict_unprivileged_userns": "1" }, true)).toContain(
      "start the container with",
    );
    expect(remedyWith({})).toContain("check sysctl kernel.unprivileged_userns_clone");
  });

  test("differs for every other reason, or does not exist", () => {
    const view = explainFailure("bwrap: Can't mount proc on /newroot/proc: Operation not permitted");
    expect(findRemedy(view)).toContain("systempaths=unconfined");
    expect(findRemedy("the project /home/me contains your home directory")).toContain(
      "separate project directory",
    );
    expect(findRemedy("sh not found in PATH")).toBeUndefined();
  });
});
