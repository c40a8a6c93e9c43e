import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GOOD_SUMMARY, inTag } from "../../../core/test/support/summaries.ts";
import { findMountObstacle, testUnless } from "../../../core/test/support/test-unless.ts";
import {
  ANTHROPIC,
  type CountingModel,
  type CountingServer,
  configureModel,
  startCountingServer,
} from "../support/counting-service.ts";
import { LONG_SESSION, writeLongSession } from "../support/long-session.ts";
import { runDiligent, startDiligent } from "../support/run-diligent.ts";
import { entryTypes, savedLines, withoutConnections, writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let path: string;

beforeEach(() => {
  place = createTemporaryProject();
  path = writeLongSession(place, ANTHROPIC.model, { turns: 6, charactersPerMessage: 2_000 });
});

afterEach(() => place.remove());

async function serve(summarize?: CountingModel["summarize"], config: object = {}): Promise<CountingServer> {
  const answer = () => "never asked";
  const server = await startCountingServer(ANTHROPIC, {
    window: 200_000,
    answer,
    ...(summarize && { summarize }),
  });
  configureModel(place, ANTHROPIC, server, { ...config });
  return server;
}

const compact = (...args: string[]) => runDiligent(place, ["sessions", "compact", ...args]);
const NOTHING = "Nothing to summarize in this session yet.\n";
const PROGRESS =
  /^Resuming session .*\n⟳ Compacting context \((\d+k) tokens\)\.\.\.\nContext compacted: \1 → \dk tokens\n$/;

describe("diligent sessions compact REF", () => {
  test("prints the summary, reports progress on stderr, and only appends the compaction to the file", async () => {
    const before = readFileSync(path, "utf8");
    await using server = await serve();
    const { stdout, stderr, exitCode } = await compact("1");
    expect([stdout, exitCode]).toEqual([`${GOOD_SUMMARY}\n`, 0]);
    expect(stderr).toMatch(PROGRESS);
    expect(readFileSync(path, "utf8")).toStartWith(before);
    expect(entryTypes(place).slice(13)).toEqual(["compaction"]);
    expect([server.turns.length, server.summaries.length, server.problems]).toEqual([0, 1, []]);
  });

  test("passes its further words to the summary as its focus", async () => {
    await using server = await serve();
    await compact(LONG_SESSION, "the", "lexer's numbers");
    expect(inTag("focus", server.summaries[0]?.messages[0])).toBe("the lexer's numbers");
  });

  test("prints the entry with --json", async () => {
    await using _server = await serve();
    const { stdout } = await compact("1", "--json");
    expect(JSON.parse(stdout)).toEqual(savedLines(place).at(-1));
    expect(JSON.parse(stdout)).toMatchObject({ type: "compaction", summary: GOOD_SUMMARY });
  });

  test("uses the model given with -m without changing the session's own", async () => {
    await using server = await serve();
    const { stdout } = await compact("1", "-m", "haiku");
    expect([stdout, server.asked.map(({ model }) => model)]).toEqual([
      `${GOOD_SUMMARY}\n`,
      ["claude-haiku-5-5"],
    ]);
    expect(entryTypes(place).slice(13)).toEqual(["compaction"]);
  });

  test("may be repeated until there is nothing left to summarize", async () => {
    await using server = await serve();
    const outcomes: string[] = [];
    while (outcomes.length < 10 && outcomes.at(-1) !== "null\n") {
      const { stdout, exitCode } = await compact("1", "--json");
      expect(exitCode).toBe(0);
      outcomes.push(stdout);
    }
    expect(outcomes.length).toBeWithin(2, 8);
    expect(server.summaries).toHaveLength(outcomes.length - 1);
    expect(entryTypes(place).filter((type) => type === "compaction")).toHaveLength(outcomes.length - 1);
  });

  test("uses a fallback summary if the model gives none, and says why", async () => {
    await using server = await serve(() => ({ text: "ok" }));
    const { stdout, stderr, exitCode } = await compact("1");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("question 0: the lexer knows numbers");
    expect(stderr).toContain("warning: Used a fallback summary");
    expect(server.summaries).toHaveLength(2);
  });
});

describe("diligent sessions compact in a read-only project", () => {
  const directory = () => join(place.project, ".diligent");

  afterEach(() => void Bun.spawnSync(["umount", directory()]));

  function makeReadOnly(): void {
    Bun.spawnSync(["mount", "--bind", directory(), directory()]);
    expect(Bun.spawnSync(["mount", "-o", "remount,bind,ro", directory()]).success).toBe(true);
  }

  testUnless(findMountObstacle())("sends no request", async () => {
    await using server = await serve();
    makeReadOnly();
    const { stdout, stderr, exitCode } = await compact("1");
    expect([stdout, exitCode, server.asked.length]).toEqual(["", 2, 0]);
    expect(stderr).toMatch(/^diligent: This session is not saved: .*EROFS/);
  });

  testUnless(findMountObstacle())(
    "prints a summary that cannot be written after all, and exits with 1",
    async () => {
      await using server = await serve();
      // Everything is prepared, so that only the write is missing.
      for (const name of ["", "sessions", "knowledge", "skills"]) {
        mkdirSync(join(directory(), name), { recursive: true });
        chmodSync(join(directory(), name), 0o700);
      }
      place.write(".diligent/.gitignore", "");
      makeReadOnly();
      const { stdout, stderr, exitCode } = await compact("1");
      expect([stdout, exitCode, server.asked.length]).toEqual([`${GOOD_SUMMARY}\n`, 1, 1]);
      expect(stderr).toMatch(/\nwarning: This session is not being saved: .*EROFS/);
    },
  );
});

describe("diligent sessions compact has nothing to summarize in", () => {
  test.each([
    ["of one turn", ["hello", "hi"]],
    ["of one prompt", ["hello"]],
    ["without any message", []],
  ])("%s", async (_, texts) => {
    const short = writeSession(place, {
      id: "20270101000000-abcdef",
      modified: "2027-01-01T00:00:00.000Z",
      texts,
      model: ANTHROPIC.model,
    });
    const before = readFileSync(short, "utf8");
    await using server = await serve();
    const { stdout, stderr, exitCode } = await compact("20270101");
    expect([stdout, exitCode, server.asked.length]).toEqual(["", 0, 0]);
    expect(stderr).toEndWith(NOTHING);
    expect((await compact("20270101", "--json")).stdout).toBe("null\n");
    expect(readFileSync(short, "utf8")).toBe(before);
  });
});

describe("diligent sessions compact, interrupted by a signal, leaves the conversation unchanged:", () => {
  test.each([
    ["SIGINT", 130, "before its first word", { silent: true }],
    ["SIGINT", 130, "in the middle of it", { events: [], ending: "hang" }],
    ["SIGTERM", 143, "before its first word", { silent: true }],
  ] as const)("%s ends with %d, %s", async (signal, code, _, reply) => {
    await using server = await serve(() => reply);
    const before = conversations();
    const running = startDiligent(place, ["sessions", "compact", "1"]);
    while (server.asked.length === 0) await Bun.sleep(5);
    running.process.kill(signal);
    const { stdout, exitCode } = await running.ended;
    expect([stdout, exitCode]).toEqual(["", code]);
    expect(conversations()).toEqual(before);
  });
});

/** The session files without the entries about connections, of which there was one. */
function conversations(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(sessionFiles()).map(([name, text]) => [name, withoutConnections(text)]),
  );
}

function sessionFiles(): Record<string, string> {
  const directory = join(place.project, ".diligent", "sessions");
  return Object.fromEntries(
    readdirSync(directory)
      .filter((each) => each.endsWith(".jsonl"))
      .map((name) => [name, readFileSync(join(directory, name), "utf8")]),
  );
}

describe("diligent sessions compact refuses with exit code 2 and without a request:", () => {
  test("an unknown session, model or option", async () => {
    await using server = await serve();
    const refused = async (args: string[], problem: string) => {
      const { stdout, stderr, exitCode } = await compact(...args);
      expect([stdout, exitCode, stderr]).toEqual(["", 2, expect.stringContaining(problem)]);
    };
    await Promise.all([
      refused(["7"], `no session 7; there are: ${LONG_SESSION}`),
      refused(["20190101"], "20190101"),
      refused([], "sessions compact needs a REF"),
      refused(["1", "--jsno"], "did you mean --json?"),
      refused(["1", "-m"], "-m needs a value"),
      refused(["1", "-m", "sonet"], "Did you mean sonnet?"),
    ]);
    expect(server.asked).toEqual([]);
  });

  test("a session whose model has no key", async () => {
    const { stdout, stderr, exitCode } = await compact("1");
    expect([stdout, exitCode]).toEqual(["", 2]);
    expect(stderr).toContain("No API key");
  });
});
