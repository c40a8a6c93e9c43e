import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { findMountObstacle, ONLY_ROOT_CAN, testUnless } from "../../../core/test/support/test-unless.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { savedMessages, sessionIds, writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const mountObstacle = findMountObstacle();

let place: TemporaryProject;
const mounts: string[] = [];

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
  place.write("script.json", { version: 1, turns: [{ text: "one" }, { text: "two" }] });
});

afterEach(() => {
  for (const directory of mounts.splice(0)) Bun.spawnSync(["umount", directory]);
  place.remove();
});

/** Mounts a small file system. */
function mount(directory: string, options: string): void {
  mkdirSync(directory, { recursive: true });
  const { success } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", options, "diligent-test", directory]);
  expect(success).toBe(true);
  mounts.push(directory);
}

function print(...args: string[]) {
  return runDiligent(place, ["-p", "-m", "scripted/script.json", ...args, "go"]);
}

/** An answer on stdout, and one warning on stderr that nothing is saved. */
async function expectUnsaved(reason: string) {
  const { stdout, stderr, exitCode } = await print();
  expect([stdout, exitCode]).toEqual(["one\n", 0]);
  expect(stderr).toStartWith("warning: This session is not saved: ");
  expect(stderr).toContain(reason);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
}

describe("the answer arrives with one warning if nothing can be saved because", () => {
  test(".diligent is a file", async () => {
    place.write(".diligent", "");
    await expectUnsaved(join(place.project, ".diligent"));
  });

  test.each([".diligent", ".diligent/sessions"])("%s is a symbolic link", async (link) => {
    const elsewhere = join(place.top, "elsewhere");
    mkdirSync(elsewhere);
    mkdirSync(join(place.project, link, ".."), { recursive: true });
    symlinkSync(elsewhere, join(place.project, link));
    await expectUnsaved("is a symbolic link");
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  testUnless(ONLY_ROOT_CAN)(".diligent belongs to another user", async () => {
    mkdirSync(join(place.project, ".diligent"));
    chownSync(join(place.project, ".diligent"), 12_345, 12_345);
    await expectUnsaved("belongs to another user");
  });

  testUnless(mountObstacle)(".diligent is read-only", async () => {
    mount(join(place.project, ".diligent"), "ro");
    await expectUnsaved("EROFS");
  });
});

testUnless(mountObstacle)(
  "a session on a file system that became read-only continues in memory, and this is reported once",
  async () => {
    const directory = join(place.project, ".diligent");
    mount(directory, "size=1m");
    writeSession(place, {
      id: "20260101000000-aaaaaa",
      modified: "2026-01-01T00:00:00.000Z",
      texts: ["x", "one"],
    });
    // Everything is prepared, so that only the write is missing.
    for (const name of ["", "sessions", "knowledge", "skills"]) {
      mkdirSync(join(directory, name), { recursive: true });
      chmodSync(join(directory, name), 0o700);
    }
    place.write(".diligent/.gitignore", "");
    Bun.spawnSync(["mount", "-o", "remount,ro", directory]);
    const { stdout, stderr, exitCode } = await print("-c");
    expect([stdout, exitCode]).toEqual(["two\n", 0]);
    const warnings = stderr.split("\n").filter((line) => line.startsWith("warning:"));
    expect(warnings).toEqual([
      expect.stringMatching(
        /^warning: This session is not being saved: .*aaaaaa\.jsonl: .*EROFS.*on the file system at .*\.diligent\. It continues in memory/,
      ),
    ]);
  },
);

testUnless(mountObstacle)(
  "a disk that is full during a turn is reported once with file system and path, and saved entries stay complete",
  async () => {
    const directory = join(place.project, ".diligent");
    mount(directory, "size=64k");
    const calls = ["a", "b", "c", "d"].map((name) => {
      place.write(`${name}.txt`, `a line of ${name}\n`.repeat(1_500));
      return { toolCalls: [{ name: "read", input: { file_path: `${name}.txt` } }] };
    });
    place.write("full.json", { version: 1, turns: [...calls, { text: "Done." }] });
    const args = ["-p", "-m", "scripted/full.json", "--approval", "auto", "--output-format", "stream-json"];
    const { stdout, exitCode } = await runDiligent(place, [...args, "go"]);
    const events = parseLines(stdout);
    expect([exitCode, events.at(-1)?.result]).toEqual([0, "Done."]);
    expect(events.filter(({ code }) => code === "not_saved")).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(
          /sessions\/.*jsonl: no space is left on the disk \(ENOSPC\), on the file system at .*\.diligent\./,
        ),
      }),
    ]);
    const [id = ""] = sessionIds(place);
    const path = join(directory, "sessions", `${id}.jsonl`);
    const text = readFileSync(path, "utf8");
    const whole = parseLines(text.slice(0, text.lastIndexOf("\n")));
    expect(whole.slice(0, 4).map(({ type }) => type)).toEqual(["session", "message", "request", "message"]);
    Bun.spawnSync(["mount", "-o", "remount,size=1m", directory]);
    const next = await runDiligent(place, [...args, "-c", "on"]);
    expect(next.exitCode).toBe(0);
    expect(readFileSync(path, "utf8")).toStartWith(text);
  },
);

test("a session whose directory is removed during the run is complete at the end", async () => {
  const remove = { toolCalls: [{ name: "bash", input: { command: "rm -rf .diligent" } }] };
  place.write("script.json", { version: 1, turns: [remove, { text: "Done." }] });
  const { stdout, stderr } = await print("--approval", "auto");
  expect(stdout).toBe("Done.\n");
  expect(stderr).toContain("it has been recreated");
  expect(savedMessages(place).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool_result",
    "assistant",
  ]);
  expect(existsSync(join(place.project, ".diligent", ".gitignore"))).toBe(true);
});
