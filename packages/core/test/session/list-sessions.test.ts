import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listSessions, listUnreadableSessions, summarizeSession } from "../../src/session/list.ts";
import type { SessionMessageEntry } from "../../src/session/types.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";
import {
  chain,
  entry,
  header,
  STAMP,
  toLines,
  writeSession,
  writeSessionFile,
} from "../support/session-files.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const at = (timestamp: string): SessionMessageEntry => ({ ...entry("00000001", null, "hi"), timestamp });

describe("a list of sessions", () => {
  test("is sorted by the last change, the latest first, and of equal ones the later id first", async () => {
    const directory = makeTempDir();
    const times = { a: "2026-01-01", b: "2026-03-01", c: "2026-02-01", d: "2026-02-01" };
    for (const [id, day] of Object.entries(times)) {
      const content = toLines([header({ id }), at(`${day}T00:00:00.000Z`)]);
      writeFileSync(join(directory, `${id}.jsonl`), content);
    }
    expect((await listSessions(directory)).map(({ id }) => id)).toEqual(["b", "d", "c", "a"]);
  });

  test("leaves out what is no session or cannot be opened, and the second kind can be asked for", async () => {
    const directory = makeTempDir();
    const write = (name: string, content: string) => writeFileSync(join(directory, name), content);
    write("good.jsonl", toLines([header({ id: "good" }), ...chain(2)]));
    write("newer.jsonl", toLines([header({ id: "newer", version: 3 }), ...chain(2)]));
    write("log.jsonl", '{"level":"info"}\n'.repeat(1000));
    write("empty.jsonl", "");
    write("notes.txt", toLines([header(), ...chain(2)]));
    mkdirSync(join(directory, "directory.jsonl"));
    symlinkSync(join(directory, "good.jsonl"), join(directory, "link.jsonl"));
    await Bun.$`mkfifo ${join(directory, "pipe.jsonl")}`.quiet();
    expect((await listSessions(directory)).map(({ id }) => id)).toEqual(["good"]);
    expect(listUnreadableSessions(directory)).toEqual([
      { id: "newer", reason: expect.stringMatching(/version 3 .* up to 2/) },
    ]);
  });

  test("of a directory that is not there is empty", async () => {
    expect(await listSessions("/nowhere/at/all")).toEqual([]);
  });
});

describe("what is shown of a session", () => {
  test("all of it", () => {
    const path = writeSession(
      [
        { type: "label", id: "0", parentId: null, timestamp: STAMP, targetId: "1" },
        entry("1", null, "find all\nTODO comments"),
        entry("2", "1", assistant([text("ok"), call("a")])),
        entry("3", "2", result("a")),
        {
          type: "session_info",
          id: "4",
          parentId: "3",
          timestamp: "2026-02-25T11:00:00.000Z",
          name: "todos",
        },
      ],
      { parentSession: "20260101000000-000000" },
    );
    expect(summarizeSession(path)).toEqual({
      id: header().id,
      path,
      cwd: "/work",
      name: "todos",
      created: new Date(STAMP),
      modified: new Date("2026-02-25T11:00:00.000Z"),
      messageCount: 3,
      firstUserMessage: "find all\nTODO comments",
      parentSession: "20260101000000-000000",
    });
  });

  test("one with a header only has no messages and was changed when it was made", () => {
    const info = summarizeSession(writeSession([]));
    expect(info).toMatchObject({ messageCount: 0, created: new Date(STAMP), modified: new Date(STAMP) });
    expect(info).not.toHaveProperty("firstUserMessage");
  });

  test("the last name counts, and a blank one takes it away", () => {
    const name = (id: string, value?: string) =>
      ({
        type: "session_info",
        id,
        parentId: null,
        timestamp: STAMP,
        ...(value !== undefined && { name: value }),
      }) as const;
    expect(summarizeSession(writeSession([name("1", "a"), name("2", "b")]))?.name).toBe("b");
    expect(summarizeSession(writeSession([name("1", "a"), name("2")]))?.name).toBeUndefined();
    expect(summarizeSession(writeSession([name("1", "a"), name("2", " ")]))?.name).toBeUndefined();
  });

  test("the first user message is the first with words, and at most its first 1,000 characters", () => {
    const first = (...contents: Parameters<typeof user>[0][]) =>
      summarizeSession(writeSession(contents.map((content, index) => entry(`${index}`, null, user(content)))))
        ?.firstUserMessage;
    expect(first([image()], " \n", "words", "more")).toBe("words");
    expect(first([image(), text("what is this?")])).toBe("what is this?");
    expect(first("x".repeat(1000))).toBe("x".repeat(1000));
    expect(first("x".repeat(5000))).toBe(`${"x".repeat(1000)}…`);
    expect(first(`${"x".repeat(999)}😀`)).toBe(`${"x".repeat(999)}\uFFFD…`);
  });

  test("invalid dates are skipped and the nearest valid one is used", () => {
    const dated = (created: string, ...timestamps: string[]) => {
      const path = writeSession(timestamps.map(at), { timestamp: created });
      utimesSync(path, 1_000_000, 1_000_000);
      const { created: from, modified: until } = summarizeSession(path) ?? {};
      return [from?.toISOString(), until?.toISOString()];
    };
    const early = "2026-01-01T00:00:00.000Z";
    expect(dated(early, STAMP, "yesterday")).toEqual([early, STAMP]);
    expect(dated(early, "", "?")).toEqual([early, early]);
    expect(dated("", STAMP)).toEqual([STAMP, STAMP]);
    expect(dated("?", "?")).toEqual(["1970-01-12T13:46:40.000Z", "1970-01-12T13:46:40.000Z"]);
  });

  test("a clock that was set back does not hide the last change", () => {
    const path = writeSession([at("2030-01-01T00:00:00.000Z"), at("2026-01-01T00:00:00.000Z")]);
    expect(summarizeSession(path)?.modified).toEqual(new Date("2026-01-01T00:00:00.000Z"));
  });

  test("a session whose header was damaged is listed under its file's name", () => {
    const path = writeSessionFile(
      `{"type":"session","vers\n${toLines(chain(3))}`,
      "20260101000000-abcdef.jsonl",
    );
    expect(summarizeSession(path)).toMatchObject({ id: "20260101000000-abcdef", cwd: "", messageCount: 3 });
  });
});

test.if(process.platform === "linux")("a line of 20 MB costs no memory of that size", () => {
  const huge = "x".repeat(20 * 1024 * 1024);
  const entries = [
    entry("1", null, "first"),
    entry("2", "1", assistant([text(huge)])),
    entry("3", "2", huge),
    entry("4", "3", "last"),
  ];
  const path = writeSession(entries);
  // The peak that the kernel keeps of this very process: `maxRSS` begins with that of its parent.
  const program = `
    import { readFileSync } from "node:fs";
    import { summarizeSession } from ${JSON.stringify(join(import.meta.dir, "../../src/session/list.ts"))};
    const peak = () => Number(/VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "latin1"))[1]);
    const before = peak();
    const { messageCount, firstUserMessage } = summarizeSession(process.argv[1]);
    console.log(JSON.stringify([messageCount, firstUserMessage, peak() - before]));`;
  const run = Bun.spawnSync([process.execPath, "-e", program, path]);
  const [messageCount, firstUserMessage, grownKilobytes] = JSON.parse(run.stdout.toString());
  expect([messageCount, firstUserMessage]).toEqual([4, "first"]);
  expect(grownKilobytes).toBeLessThan(16 * 1024);
});
