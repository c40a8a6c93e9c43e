import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeCodex } from "../../core/test/support/foreign-fixtures.ts";
import { findMountObstacle, testUnless } from "../../core/test/support/test-unless.ts";
import { bareEnvironment, PROGRAM, runDiligent } from "./support/run-diligent.ts";
import { writeSession } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const MAX_MEMORY_BYTES = 700_000_000;

let place: TemporaryProject;
const mounted: string[] = [];

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => {
  for (const directory of mounted.splice(0)) Bun.spawnSync(["umount", "-l", directory]);
  place.remove();
});

const ID = "0b6f3d62-6f0d-4f5c-9c8e-1f3a5b7c9d11";

/** A file of Claude Code without any line. */
function claudePath(): string {
  const path = join(place.home, ".claude", "projects", "project", `${ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

function claudeLine(number: number, text: string): string {
  const line = {
    parentUuid: number === 0 ? null : `u${number - 1}`,
    uuid: `u${number}`,
    isSidechain: false,
    type: "user",
    cwd: place.project,
    sessionId: ID,
    timestamp: "2026-05-01T10:00:00.000Z",
    message: { role: "user", content: text },
  };
  return `${JSON.stringify(line)}\n`;
}

async function runBounded(...args: string[]) {
  const child = Bun.spawn([PROGRAM, ...args], {
    cwd: place.project,
    env: bareEnvironment(place),
    stdout: "pipe",
    stderr: "pipe",
    timeout: 110_000,
  });
  // Not `maxRSS`: on Linux it begins with the memory of the process that started it, here that of the tests.
  let mostBytes = 0;
  const watch = setInterval(() => {
    mostBytes = Math.max(mostBytes, readMostBytes(child.pid));
  }, 10);
  try {
    const [stdout] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(await child.exited).toBe(0);
    expect(mostBytes).toBeGreaterThan(0);
    expect(mostBytes).toBeLessThan(MAX_MEMORY_BYTES);
    return stdout;
  } finally {
    clearInterval(watch);
  }
}

/** The most memory that a process has had so far; 0 once it has ended. */
function readMostBytes(pid: number): number {
  try {
    const [, kilobytes = "0"] =
      /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0; // It has just ended.
  }
}

test("another agent's file of 1 GB is searched and imported with bounded memory, and its oversized line is counted", async () => {
  const path = claudePath();
  writeFileSync(path, claudeLine(0, "before the hole"));
  truncateSync(path, 1024 ** 3);
  appendFileSync(path, `\n${claudeLine(1, "behind the hole")}`);
  expect(await runBounded("history", "search", "hole")).toContain("behind the hole");
  expect(JSON.parse(await runBounded("import", "claude-code", "--json"))).toMatchObject([
    { messages: 2, skipped: { too_long_line: 1 } },
  ]);
});

testUnless(findMountObstacle())(
  "a disk that fills up while sessions are indexed is reported, and the index is complete once there is room",
  async () => {
    const texts = Array.from({ length: 60 }, (_, index) => `${index} ${"some words ".repeat(300)}`);
    for (let number = 0; number < 10; number++)
      writeSession(place, {
        id: `2026010100000${number}-aaaaaa`,
        modified: "2026-01-01T12:00:00.000Z",
        texts: [`needle ${number}`, ...texts],
      });
    const disk = join(place.home, ".local", "share", "diligent");
    mkdirSync(disk, { recursive: true, mode: 0o700 });
    const mount = ["mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "diligent-test", disk];
    expect(Bun.spawnSync(mount).exitCode).toBe(0);
    mounted.push(disk);
    const full = await runDiligent(place, ["history", "search", "needle"]);
    expect(full.exitCode).toBe(2);
    expect(full.stderr).toMatch(/^diligent: .*full/);
    expect(Bun.spawnSync(["mount", "-o", "remount,size=64m", disk]).exitCode).toBe(0);
    const found = JSON.parse((await runDiligent(place, ["history", "search", "needle", "--json"])).stdout);
    expect(found).toHaveLength(10);
  },
);

test("a session that grows while it is indexed is complete after a later search", async () => {
  const path = claudePath();
  writeFileSync(path, claudeLine(0, "the beginning"));
  let written = 1;
  let isStopped = false;
  const growing = (async () => {
    while (!isStopped) {
      appendFileSync(path, claudeLine(written++, "more of it"));
      // About as fast as an agent can write.
      await Bun.sleep(2);
    }
    // A line in two pieces, between which a search happens.
    const last = claudeLine(written, "the very end");
    appendFileSync(path, last.slice(0, 100));
    expect((await runDiligent(place, ["history", "search", "beginning"])).exitCode).toBe(0);
    appendFileSync(path, last.slice(100));
  })();
  for (let search = 0; search < 3; search++)
    expect((await runDiligent(place, ["history", "search", "beginning"])).stdout).toContain("the beginning");
  isStopped = true;
  await growing;
  expect((await runDiligent(place, ["history", "search", '"very end"'])).stdout).toContain("the very end");
});

test("two files with the same id are one session of that name, and neither is lost from the search", async () => {
  const path = writeCodex(place);
  const other = readFileSync(path, "utf8").replaceAll("screenshot", "other screenshot");
  writeFileSync(path.replace(/([^/]+)\.jsonl$/, "copy-$1.jsonl"), other);
  const search = async () =>
    JSON.parse((await runDiligent(place, ["history", "search", "screenshot", "--json"])).stdout);
  const found = await search();
  expect(found).toHaveLength(2);
  expect(new Set(found.map(({ ref }: { ref: string }) => ref)).size).toBe(1);
  rmSync(path);
  expect(await search()).toHaveLength(1);
  const { stdout } = await runDiligent(place, ["import", "codex", "--json"]);
  expect(JSON.parse(stdout)).toHaveLength(1);
});
