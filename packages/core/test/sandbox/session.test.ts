import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findSandboxProgram } from "../../src/sandbox/detect.ts";
import { SessionSandbox } from "../../src/sandbox/session-sandbox.ts";
import { findSharedTemporary } from "../../src/sandbox/shared-temporary.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { findBoxProblem } from "../support/boxed-project.ts";
import { loadedFiles } from "../support/loaded-files.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

type Setting = "auto" | "required" | "off";

const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/** A session where `bwrap` is the shell script `script`, not there, or the system's own for `true`. */
function makeSession(
  setting: Setting,
  script: string | boolean,
  changes: { root?: string; HOME?: string } = {},
) {
  const bin = makeTempDir();
  if (script === false) symlinkSync("/bin/sh", join(bin, "sh"));
  if (typeof script === "string")
    writeFileSync(join(bin, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const path = typeof script === "string" ? `${bin}:${SYSTEM_PATH}` : script ? SYSTEM_PATH : bin;
  const told: string[] = [];
  const workspace = createToolWorkspace();
  const root = changes.root ?? workspace.root;
  const environment = { PATH: path, HOME: changes.HOME ?? workspace.environment.HOME };
  const sandbox = new SessionSandbox({
    setting,
    environment,
    root,
    directory: workspace.outputDirectory,
    notify: (message) => told.push(message),
  });
  const sandboxState = () => sandbox.sandboxState();
  const tool = createBashTool({ ...workspace, environment, root, cwd: root, sandboxState });
  return { sandbox, told, tool, root };
}

const REFUSALS: Readonly<Record<string, [script: string, problem: string]>> = {
  "the kernel refuses namespaces": [
    "echo 'bwrap: No permissions to create a new namespace, likely because the kernel does not allow it.' >&2; exit 1",
    "this system refuses user namespaces (because of a container, AppArmor or a kernel setting): bwrap: No permissions to create a new namespace, likely because the kernel does not allow it.",
  ],
  "AppArmor refuses them": [
    "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
    "this system refuses user namespaces (because of a container, AppArmor or a kernel setting): bwrap: setting up uid map: Permission denied",
  ],
  "there are none left": [
    "echo 'bwrap: Creating new namespace failed: No space left on device' >&2; exit 1",
    "this system refuses user namespaces (because of a container, AppArmor or a kernel setting): bwrap: Creating new namespace failed: No space left on device",
  ],
  "a container allows no /proc": [
    'echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1',
    "this container does not allow a separate process view: bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
  ],
  "it says something else": [
    "echo 'bwrap: out of luck' >&2; exit 7",
    "bubblewrap cannot work here: bwrap: out of luck",
  ],
  "it says nothing": ["exit 1", "bubblewrap failed without a message"],
};

describe("if bubblewrap does not work", () => {
  for (const [name, [script, reason]] of Object.entries(REFUSALS)) {
    test(`since ${name}, one line reports it and commands run as before`, async () => {
      const { sandbox, told, tool, root } = makeSession("auto", script);
      expect([sandbox.isExpected, sandbox.startProblem]).toEqual([true, undefined]);
      expect(await sandbox.sandboxState()).toEqual({ kind: "open", problem: reason });
      await sandbox.sandboxState();
      expect(told).toEqual([
        `Commands run unsandboxed and need approval: ${reason}. Jobs are ended as far as their processes can be found.`,
      ]);
      await runTool(tool, { command: "touch made" });
      expect(existsSync(join(root, "made"))).toBe(true);
    });

    test(`since ${name}, a required sandbox refuses to run anything`, async () => {
      const { sandbox, told, tool, root } = makeSession("required", script);
      expect(await sandbox.sandboxState()).toEqual({ kind: "refused", problem: reason });
      expect(told).toEqual([`No command will run: the setting "sandbox" is "required", and ${reason}.`]);
      for (const input of [{ command: "touch made" }, { command: "touch made", outside_sandbox: true }]) {
        await expect(runTool(tool, input)).rejects.toThrow(
          "the user's settings require a sandbox for every command, and",
        );
      }
      expect(existsSync(join(root, "made"))).toBe(false);
    });
  }

  test("since it is not installed, this is known at the start", async () => {
    const { sandbox, told } = makeSession("auto", false);
    const reason = "bubblewrap (the program bwrap) is not installed";
    expect([sandbox.isExpected, sandbox.startProblem]).toEqual([
      false,
      `Commands run unsandboxed and need approval: ${reason}. Jobs are ended as far as their processes can be found.`,
    ]);
    expect([await sandbox.sandboxState(), told]).toEqual([{ kind: "open", problem: reason }, []]);
  });

  test("since it only pretends to, nothing is lost except the sandbox", async () => {
    // The trial asks for no more than that the command comes to its end.
    const { sandbox } = makeSession("required", 'while [ "$1" != -- ]; do shift; done; shift; exit 0');
    expect((await sandbox.sandboxState()).kind).toBe("boxed");
  });
});

describe("a sandbox", () => {
  test("that is off is not searched for", async () => {
    const { sandbox } = makeSession("off", "touch $0.ran");
    expect([sandbox.isWanted, await sandbox.sandboxState()]).toEqual([false, { kind: "open" }]);
  });

  test("is never a program from the project", () => {
    const root = makeTempDir();
    mkdirSync(join(root, "bin"));
    writeFileSync(join(root, "bin", "bwrap"), "#!/bin/sh\n");
    chmodSync(join(root, "bin", "bwrap"), 0o755);
    expect(findSandboxProgram({ environment: { PATH: join(root, "bin") }, root })).toHaveProperty("problem");
  });

  test("is sandbox-exec on macOS, and unavailable on other systems", () => {
    const bin = makeTempDir();
    writeFileSync(join(bin, "sandbox-exec"), "", { mode: 0o755 });
    const search = { environment: { PATH: bin }, root: "/nowhere" };
    expect(findSandboxProgram({ ...search, platform: "darwin" })).toEqual({
      kind: "seatbelt",
      path: join(bin, "sandbox-exec"),
    });
    expect(findSandboxProgram({ ...search, platform: "win32" })).toEqual({
      problem: "there is no sandbox for win32",
    });
  });

  test("loads its code with the first command only", () => {
    const loaded = [...loadedFiles("faces/run.ts")].filter((file) => file.startsWith("sandbox/")).sort();
    expect(loaded).toEqual(
      ["detect", "session-sandbox", "shared-temporary"].map((name) => `sandbox/${name}.ts`),
    );
  });
});

describe.skipIf(problem !== undefined)("an older bubblewrap", () => {
  const real = Bun.which("bwrap") ?? "";
  const without = (option: string) =>
    `for word; do [ "$word" = ${option} ] && { echo "bwrap: Unknown option ${option}" >&2; exit 1; }; done; exec ${real} "$@"`;
  for (const option of ["--disable-userns", "--seccomp"]) {
    test(`without ${option} creates sandboxes without it`, async () => {
      const { sandbox, tool, told } = makeSession("auto", without(option));
      expect((await sandbox.sandboxState()).kind).toBe("boxed");
      expect(told).toEqual([]);
      expect((await runTool(tool, { command: "touch /etc/canary" })).isError).toBe(true);
    });
  }
});

describe.skipIf(problem !== undefined)("sockets that are removed while sandboxes are made", () => {
  const real = Bun.which("bwrap") ?? "";
  /** Fails so often, each time for another socket, except for the process that holds the namespaces. */
  const failing = (times: number) => {
    const log = join(makeTempDir(), "failures");
    return [
      `case "$*" in *--as-pid-1*) exec ${real} "$@";; esac`,
      `n=$(cat ${log} 2>/dev/null | wc -l)`,
      `[ "$n" -ge ${times} ] && exec ${real} "$@"`,
      `echo x >> ${log}`,
      `echo "bwrap: Can't mkdir parents for /gone/$n.sock: No such file or directory" >&2; exit 1`,
    ].join("\n");
  };

  test.each([0, 4, 9])("leave the session its sandbox after %i failures", async (times) => {
    const { sandbox, tool, told } = makeSession("auto", failing(times));
    expect((await sandbox.sandboxState()).kind).toBe("boxed");
    expect([sandbox.sharesProcesses, told]).toEqual([true, []]);
    expect(await runTool(tool, { command: "echo done" })).toMatchObject({ output: "done", isError: false });
  });
});

describe.skipIf(problem !== undefined)("a project that contains what is hidden from commands", () => {
  const PLACES: Readonly<Record<string, () => { root: string; HOME: string }>> = {
    "the home directory": () => {
      const root = makeTempDir();
      return { root, HOME: join(root, "home") };
    },
    "being it": () => {
      const root = makeTempDir();
      return { root, HOME: root };
    },
    "being the account's, whatever the environment says": () => ({
      root: userInfo().homedir,
      HOME: "/nowhere",
    }),
    "being everything": () => ({ root: "/", HOME: "/nowhere" }),
    "being the temporary directory": () => ({ root: "/tmp", HOME: "/nowhere" }),
  };
  for (const [name, place] of Object.entries(PLACES)) {
    test(`gets no sandbox: ${name}`, async () => {
      const { sandbox } = makeSession("auto", true, place());
      expect(await sandbox.sandboxState()).toMatchObject({
        kind: "open",
        problem: expect.stringContaining("contains"),
      });
    });
  }

  test("gets no sandbox if it is inside a hidden directory", async () => {
    const top = makeTempDir();
    const root = join(top, ".config", "diligent");
    mkdirSync(root, { recursive: true });
    const { sandbox } = makeSession("auto", true, { root, HOME: top });
    expect(await sandbox.sandboxState()).toEqual({
      kind: "open",
      problem: `the project lies in ${root}, which is hidden from commands`,
    });
  });
});

describe("the directory for temporary files", () => {
  const HOME = "/home/me";
  test("is shared with other sessions, wherever it is", () => {
    expect(findSharedTemporary("/data/temporary", [HOME])).toEqual(["/tmp", "/var/tmp", "/data/temporary"]);
    expect(findSharedTemporary("/home/me/tmp", [HOME])).toContain("/home/me/tmp");
  });

  test("is ignored if it contains the home directory, or is one of the system's", () => {
    for (const configured of ["/", "/home", HOME, "/tmp", "/tmp/deeper"])
      expect(findSharedTemporary(configured, [HOME])).toEqual(["/tmp", "/var/tmp"]);
  });
});
