import { describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toBubblewrapArguments } from "../../src/sandbox/box/bubblewrap.ts";
import { explainOutput } from "../../src/sandbox/box/explain.ts";
import { MAX_MOUNTS, planMounts, type SandboxMounts } from "../../src/sandbox/box/mounts.ts";
import { toSeatbeltProfile } from "../../src/sandbox/box/sandboxed-command.ts";
import { ProtectedFileScanner } from "../../src/sandbox/protected-files/scan.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const PLACES: SandboxMounts = {
  writable: ["/w/app"],
  fixed: ["/w/app/.git"],
  protected: ["/w/app/.git/config", '/w/app/a "quoted" one/.env'],
  homes: [
    {
      directory: "/home/me",
      shown: ["/home/me/.cargo"],
      links: [{ path: "/home/me/l", target: "../x" }],
    },
  ],
  hiddenDirectories: ["/home/me/.ssh"],
  hiddenFiles: ["/home/me/.netrc"],
  unreadableFiles: ["/w/app/.env.local"],
  temporary: {
    directory: "/tmp/s",
    files: "/tmp/s/tmp",
    emptyFile: "/tmp/s/empty",
    unreadableFile: "/tmp/s/unreadable",
    filterFile: undefined,
  },
};

describe("the mounts of a sandbox", () => {
  test("are passed to bubblewrap with those that take precedence last", () => {
    const options = {
      places: PLACES,
      runtimeDirectories: ["/run"],
      shownDirectories: [],
      sharedTemporary: ["/tmp"],
      forbidsNamespaces: true,
      isFiltered: true,
      isAdministrator: false,
      isJoining: false,
      owner: { userId: 1000, groupId: 1000 },
      cwd: "/w/app/src",
    };
    const words = toBubblewrapArguments(options);
    expect(words.join(" ")).toBe(
      "--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try " +
        "--disable-userns --seccomp 4 --cap-drop ALL --new-session --die-with-parent --ro-bind / / --dev /dev --proc /proc " +
        "--tmpfs /home/me --ro-bind-try /home/me/.cargo /home/me/.cargo --symlink ../x /home/me/l --remount-ro /home/me " +
        "--tmpfs /run --bind /tmp/s/tmp /tmp --ro-bind /tmp/s /tmp/s --bind /tmp/s/tmp /tmp/s/tmp --bind /w/app /w/app " +
        "--bind /w/app/.git /w/app/.git --ro-bind-try /w/app/.git/config /w/app/.git/config " +
        '--ro-bind-try /w/app/a "quoted" one/.env /w/app/a "quoted" one/.env ' +
        "--tmpfs /home/me/.ssh --remount-ro /home/me/.ssh --ro-bind /tmp/s/empty /home/me/.netrc " +
        "--ro-bind /tmp/s/unreadable /w/app/.env.local " +
        "--chdir /w/app/src",
    );
  });

  test("are passed to sandbox-exec in its own language", () => {
    expect(toSeatbeltProfile(PLACES).trimEnd().split("\n").slice(8)).toEqual([
      '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd"))',
      '(allow file-write* (subpath "/w/app"))',
      '(allow file-write* (subpath "/w/app/.git"))',
      '(allow file-write* (subpath "/tmp/s/tmp"))',
      '(deny file-write-unlink (literal "/w/app/.git"))',
      '(deny file-write* (subpath "/w/app/.git/config"))',
      '(deny file-write-unlink (literal "/w/app/.git"))',
      '(deny file-write* (subpath "/w/app/a \\"quoted\\" one/.env"))',
      '(deny file-write-unlink (literal "/w/app/a \\"quoted\\" one"))',
      '(deny file-read* file-write* (subpath "/home/me/.ssh"))',
      '(deny file-read* file-write* (subpath "/home/me/.netrc"))',
      '(deny file-read* file-write* (subpath "/w/app/.env.local"))',
    ]);
  });

  test("include a home directory inside another without the hidden paths of either", () => {
    const outer = realpathSync(makeTempDir());
    const inner = join(outer, "inner");
    for (const path of [join(inner, ".ssh"), join(outer, ".ssh"), join(outer, "keys")])
      mkdirSync(path, { recursive: true });
    writeFileSync(join(inner, "shown"), "");
    symlinkSync("../keys", join(inner, ".aws"));
    symlinkSync("inner", join(outer, "link"));
    const secrets = [join(outer, ".ssh"), join(inner, ".ssh"), join(outer, "link", ".aws")];
    const { homes, hiddenDirectories } = planMounts({
      ...{
        roots: ["/w/app"],
        projectSecrets: [],
        look: new ProtectedFileScanner({ roots: [] }).scan(),
        secrets,
        sharedTemporary: [],
      },
      ...{ homes: [join(outer, "link"), outer, inner, "/not/there"], temporary: undefined },
      ...{ linkedGitDirectories: [], settledGitDirectories: new Set() },
    });
    expect(homes).toEqual([
      { directory: outer, shown: [inner], links: [{ path: join(outer, "link"), target: "inner" }] },
      { directory: inner, shown: [join(inner, "shown")], links: [] },
    ]);
    expect(hiddenDirectories).toEqual([]);
  });

  test("are refused if there are more than a sandbox supports", () => {
    const root = makeTempDir();
    for (let index = 0; index <= MAX_MOUNTS; index++) {
      mkdirSync(join(root, `package-${index}`));
      writeFileSync(join(root, `package-${index}`, ".npmrc"), "");
    }
    const look = new ProtectedFileScanner({ roots: [root] }).scan();
    const input = {
      roots: [root],
      look,
      projectSecrets: [],
      secrets: [],
      homes: [],
      sharedTemporary: [],
      temporary: undefined,
    };
    expect(() =>
      planMounts({ ...input, linkedGitDirectories: [], settledGitDirectories: new Set() }),
    ).toThrow(`${MAX_MOUNTS + 1} paths to protect`);
  });
});

describe("a second scan", () => {
  test("sees what changed in a directory, however soon after the first", () => {
    const root = makeTempDir();
    mkdirSync(join(root, "a"));
    const watch = new ProtectedFileScanner({ roots: [root] });
    for (let index = 0; index < 20; index++) {
      watch.scan();
      writeFileSync(join(root, "a", `.env.${index}`), "");
      expect(watch.scan().files.has(join(root, "a", `.env.${index}`))).toBe(true);
    }
  });
});

describe("a failure in the sandbox is explained", () => {
  const SIGNS: Readonly<Record<string, string>> = {
    "touch: cannot touch '/etc/x': Read-only file system": "can be written to",
    "error: could not write config file .git/config: Device or resource busy": "can be written to",
    "Error: EROFS: read-only file system, open '/etc/x'": "can be written to",
    "curl: (6) Could not resolve host: example.org": "there is no network",
    "Error: getaddrinfo EAI_AGAIN packages.example.org": "there is no network",
    "fatal: unable to access 'https://x/': Failed to connect to x": "there is no network",
    "connect ECONNREFUSED 127.0.0.1:5432": "there is no network",
    'sudo: The "no new privileges" flag is set': "no program gets more privileges",
  };
  for (const [output, expected] of Object.entries(SIGNS)) {
    test(`by ${JSON.stringify(output)}`, () => {
      expect(explainOutput(output, { mayLeave: true, temporary: undefined })).toContain(expected);
    });
  }

  test("but not one that is unrelated to it", () => {
    const output = "1 test failed: expected 3, received 4\nPermission denied by the guard";
    expect(explainOutput(output, { mayLeave: true, temporary: undefined })).toBeUndefined();
  });

  test("without an alternative if there is none", () => {
    const output = explainOutput("EROFS", { mayLeave: false, temporary: undefined });
    expect(output).toEndWith("The user's settings do not allow commands outside the sandbox");
  });
});
