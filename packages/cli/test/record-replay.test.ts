import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedStream, scriptedModel } from "@diligent/core/testing";
import { openRecording } from "../../core/src/harness/scripts.ts";
import { type Reply, startSseServer } from "../../core/test/support/sse-server.ts";
import { UsageError } from "../src/errors.ts";
import { startInPty } from "./support/pty-program.ts";
import { parseLines, runDiligent, startDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";
import { PASSING_FAULTS } from "./support/vendor-faults.ts";
import {
  environmentFor,
  SERVICES,
  thoughtfulReply,
  type VendorService,
  wholeReply,
} from "./support/vendor-service.ts";

const PROMPT = ["-p", "--output-format", "stream-json", "--approval", "auto", "rename it"];
const OLD_TEXT = "the old name\n";
const KEY = "sk-secret-of-the-user";

const LOOK = { toolCalls: [{ name: "ls", input: {} }] };

const places: TemporaryProject[] = [];

afterAll(() => {
  for (const place of places) place.remove();
});

function createPlace(): TemporaryProject {
  const place = createTemporaryProject();
  places.push(place);
  place.write("a.txt", OLD_TEXT);
  return place;
}

/**
 * A run with a server that is overloaded at first or cuts its answer (one of them, since each is waited for),
 * thinking, several calls per reply, a failing tool, and an answer.
 */
function repliesOf(service: VendorService): Reply[] {
  const calls = [{ id: "call_read", name: "read", input: { file_path: "a.txt" } }];
  const edit = { file_path: "a.txt", old_string: "the old", new_string: "the new" };
  const cut = PASSING_FAULTS["a stream that ends in mid-text"];
  return [
    cut && service.name === "openai" ? cut(service, { text: "I look at", calls }) : service.overloaded,
    thoughtfulReply(service, {
      text: "I look at it first, as one does.",
      calls,
      usage: { input: 100, output: 40 },
    }),
    wholeReply(service, {
      text: "Now the change.",
      calls: [
        { id: "call_edit", name: "edit", input: edit },
        { id: "call_bash", name: "bash", input: { command: "cat a.txt; exit 3" } },
      ],
    }),
    wholeReply(service, { text: "It has its new name." }),
  ];
}

// What differs between two equal runs: times, ids, and the model's name. The ids of entries are random in
// each run.
const ENTRY_IDS = ["entryIds", "cutEntryIds", "keptEntryIds"];
const VARIABLE = new Set(["timestamp", "durationMs", "delayMs", "sessionId", "model", "cwd", ...ENTRY_IDS]);

/** The lines of a run, with their fields in their original order. A replay makes no connections. */
function comparable(stdout: string): string[] {
  const withoutTimes = stdout.replace(/ in [\d.]+ s\./g, "");
  return parseLines(withoutTimes)
    .filter(({ type }) => type !== "network")
    .map((line) => JSON.stringify(line, (key, value) => (VARIABLE.has(key) ? undefined : value)));
}

for (const service of SERVICES) {
  test(`a run with tools against ${service.name} replays to the same events`, async () => {
    const place = createPlace();
    await using server = await startSseServer(...repliesOf(service));
    const environment = { ...environmentFor(service, server.url), [service.keyVariable]: KEY };
    const script = join(place.top, "run.json");
    const recorded = await runDiligent(place, [...PROMPT, "--record", script], { environment });
    const asked = server.requests.length;
    place.write("a.txt", OLD_TEXT);
    const replayed = await runDiligent(place, [...PROMPT, "--replay", script]);
    expect([recorded.exitCode, replayed.exitCode, server.requests.length]).toEqual([0, 0, asked]);
    expect(comparable(replayed.stdout)).toEqual(comparable(recorded.stdout));
    expect(readFileSync(join(place.project, "a.txt"), "utf8")).toBe("the new name\n");
    expect(readFileSync(script, "utf8")).not.toContain(KEY);
    expect(statSync(script).mode & 0o777).toBe(0o600);
  }, 60_000);
}

test("a replay uses the recorded knowledge and configuration, not the current ones, and learns nothing", async () => {
  const [service] = SERVICES;
  if (!service) throw new Error("There is no service.");
  const [place, other] = [createPlace(), createPlace()];
  const state = join(place.home, ".local", "state", "diligent");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const learned = { id: `${service.name}/${service.model}`, ratio: 0.9, samples: 30 };
  const kept = { version: 1, models: [learned] };
  writeFileSync(join(state, "calibration.json"), JSON.stringify(kept), { mode: 0o600 });
  const models = [{ id: service.model, contextWindow: 40_000 }];
  other.configure({ maxTurns: 1, maxRetries: 3 });
  place.configure({
    models,
    maxRetries: 1,
    maxTurns: 20,
    compaction: { pruning: { keepLast: 0, minimumTokens: 100 } },
  });
  const text = Array.from({ length: 270 }, (_, line) => `line ${line} of words`).join("\n");
  for (const at of [place, other]) at.write("a.txt", text);
  const { headers, ...overloaded } = service.overloaded;
  const busy = { ...overloaded, headers: { ...headers, "retry-after": "0" } };
  const reads = [0, 50, 100, 150, 200].map((offset) =>
    wholeReply(service, {
      text: "I read on.",
      calls: [{ id: `call_${offset}`, name: "read", input: { file_path: "a.txt", offset: offset + 1 } }],
    }),
  );
  await using server = await startSseServer(...reads, busy, busy);
  const environment = { ...environmentFor(service, server.url), [service.keyVariable]: KEY };
  const script = join(place.top, "run.json");
  const recorded = await runDiligent(place, [...PROMPT, "--record", script], { environment });
  expect(JSON.parse(readFileSync(script, "utf8")).conditions).toMatchObject({
    compaction: { pruning: { keepLast: 0, minimumTokens: 100 } },
    maxRetries: 1,
    maxTurns: 20,
    calibration: { ratio: 0.9, samples: 30 },
  });
  expect(server.requests).toHaveLength(7);
  for (let replay = 0; replay < 2; replay++) {
    const replayed = await runDiligent(other, [...PROMPT, "--replay", script]);
    expect(comparable(replayed.stdout)).toEqual(comparable(recorded.stdout));
    expect(existsSync(join(other.home, ".local", "state", "diligent", "calibration.json"))).toBe(false);
  }
}, 60_000);

describe("--record", () => {
  test("refuses an existing file before anything is sent", async () => {
    const place = createPlace();
    place.write("hello.json", { version: 1, turns: [{ text: "Hello." }] });
    const args = ["-p", "--model", "scripted/hello.json", "--record", "a.txt", "hi"];
    const { exitCode, stdout, stderr } = await runDiligent(place, args);
    expect([exitCode, stdout, stderr]).toEqual([
      2,
      "",
      "diligent: --record a.txt: it cannot be created: it already exists\n",
    ]);
  });

  test.each([
    ["new/", "--record new/: is a directory; name a file in it"],
    ["new/..", "--record new/..: is a directory; name a file in it"],
    [
      "new/run.json",
      "--record new/run.json: its directory PROJECT/new cannot be written to: it does not exist (ENOENT)",
    ],
  ])("refuses a path that cannot be a file: %s", async (file, complaint) => {
    const { project: cwd } = createPlace();
    const failure = openRecording(file, { cwd, warn: () => {} }).catch((error: unknown) => error);
    expect(await failure).toEqual(new UsageError(complaint.replace("PROJECT", cwd)));
    expect(existsSync(join(cwd, "new"))).toBe(false);
  });

  test("warns if a second model answers, which the replay will not distinguish", async () => {
    const { project: cwd } = createPlace();
    const warnings: string[] = [];
    const recording = await openRecording("run.json", { cwd, warn: (text) => warnings.push(text) });
    const script = { version: 1 as const, turns: [{ text: "one" }, { text: "two" }] };
    const stream = recording.wrap(createScriptedStream(script));
    const messages = [{ role: "user" as const, content: "go", timestamp: 0 }];
    for (const name of ["first.json", "second.json"])
      await stream(scriptedModel(name, script), { systemPrompt: "", messages, tools: [] }, {}).result();
    expect(warnings).toEqual([
      `The recording ${join(cwd, "run.json")} holds the context window, price and settings of scripted/first.json ` +
        "only: its replay uses those for every reply, including the replies of scripted/second.json.",
    ]);
  });

  test("leaves no file if no model could be chosen", async () => {
    const place = createPlace();
    const { exitCode } = await runDiligent(place, ["-p", "--record", "run.json", "hi"]);
    expect([exitCode, existsSync(join(place.project, "run.json"))]).toEqual([2, false]);
  });

  test("keeps what was recorded until the program was killed, and that can be replayed", async () => {
    const place = createPlace();
    const turns = [{ toolCalls: [{ name: "ls", input: {} }] }, { text: "never said", delayMs: 60_000 }];
    place.write("slow.json", { version: 1, turns });
    const args = [
      "-p",
      "--model",
      "scripted/slow.json",
      "--record",
      "run.json",
      "--output-format",
      "stream-json",
      "hi",
    ];
    const running = startDiligent(place, args);
    await running.shown('"tool_end"');
    running.process.kill("SIGKILL");
    await running.ended;
    const { stderr, exitCode } = await runDiligent(place, ["-p", "--replay", "run.json", "hi"]);
    const anotherWay = "script ended at turn 1: the run requests more replies than were recorded";
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(anotherWay)]);
  }, 60_000);

  test("continues on the screen from one conversation to the next", async () => {
    const place = createPlace();
    const turns = [{ text: "First answer." }, { text: "Second answer." }];
    place.write("two.json", { version: 1, turns });
    const args = ["--model", "scripted/two.json", "--record", "run.json", "one"];
    await using program = startInPty(place, args);
    await program.waitFor("First answer.");
    program.send("/new\r");
    await program.waitFor(/new session/i);
    program.send("two\r");
    await program.waitUntil((rows) => rows.join("\n").split("First answer.").length > 2);
    program.send("\x04");
    await program.exitCode;
    const script = JSON.parse(readFileSync(join(place.project, "run.json"), "utf8"));
    expect(script.turns.map(({ text }: { text: string }) => text)).toEqual([
      "First answer.",
      "First answer.",
    ]);
  }, 60_000);
});

test.each([
  [[], "max_turns", 2],
  [["--max-turns", "1"], "max_turns", 1],
])("a replay stops where its run stopped, or at a given limit: %j", async (limits, stopReason, turns) => {
  const place = createPlace();
  const script = { version: 1, conditions: { maxTurns: 2 }, turns: [LOOK, LOOK, { text: "Never said." }] };
  place.write("stopped.json", script);
  const args = ["-p", "--output-format", "stream-json", "--replay", "stopped.json", ...limits, "hi"];
  const { exitCode, stdout } = await runDiligent(place, args);
  expect([exitCode, parseLines(stdout).at(-1)]).toMatchObject([3, { type: "result", stopReason, turns }]);
});

test("--replay and --model exclude each other", async () => {
  const { exitCode, stderr } = await runDiligent(createPlace(), [
    "-p",
    "-m",
    "opus",
    "--replay",
    "x.json",
    "hi",
  ]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--replay replaces the model")]);
});
