import { describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent } from "../../src/harness/agent.ts";
import { createHarness } from "../../src/harness/harness.ts";
import type { SessionStart } from "../../src/harness/types.ts";
import { createScriptedStream, parseScript, scriptedModel } from "../../src/provider/scripted.ts";
import type { StreamContext } from "../../src/provider/types.ts";
import type { Message } from "../../src/types.ts";
import { put } from "../support/config-place.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const read = (...paths: string[]) => ({
  toolCalls: paths.map((file_path) => ({ name: "read", input: { file_path } })),
});

async function open(turns: object[], options: object = {}, answer?: "once") {
  const directory = realpathSync(makeTempDir());
  const cwd = join(directory, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  put(join(cwd, "AGENTS.md"), "Root rule.");
  put(join(cwd, "pkg", "AGENTS.md"), "Package rule.");
  put(join(cwd, "pkg", "a.txt"), "alpha");
  put(join(cwd, "pkg", "b.txt"), "beta");
  put(join(directory, ".config", "diligent", "diligent.jsonc"), { sandbox: "off" });
  const script = parseScript(
    JSON.stringify({ version: 1, contextWindow: 60_000, turns, ...options }),
    "script.json",
  );
  const played = createScriptedStream(script, { startAtTurn: 0 });
  const requests: StreamContext[] = [];
  const agent = await createAgent({
    cwd,
    environment: { HOME: directory, PATH: process.env.PATH },
    ...(answer && { approve: async () => answer }),
    model: {
      model: scriptedModel("script.json", script),
      streamFunction: (model, context, options) => {
        requests.push(structuredClone(context));
        return played(model, context, options);
      },
    },
  });
  return { agent, cwd, requests, [Symbol.asyncDispose]: () => agent.close() };
}

const outputsOf = (messages: readonly Message[] = []) =>
  messages.flatMap((message) => (message.role === "tool_result" ? [message.output] : []));
const HEADING = /Instructions from: (\S+)/g;
const toldIn = (text = "") =>
  [...text.matchAll(HEADING)].map(([, path = ""]) => path.split("/").slice(-2).join("/"));

describe("instructions below the working directory", () => {
  test("join the first result of a call below them, once, also when two calls run at the same time", async () => {
    await using session = await open([
      read("pkg/a.txt", "pkg/b.txt"),
      read("pkg/b.txt"),
      { toolCalls: [{ name: "ls", input: { path: "pkg" } }] },
      { text: "done" },
    ]);
    await session.agent.prompt("go");
    const outputs = outputsOf(session.requests.at(-1)?.messages);
    expect(outputs).toHaveLength(4);
    expect(outputs.flatMap(toldIn)).toEqual(["pkg/AGENTS.md"]);
    const told = outputs.find((output) => output.includes("Package rule."));
    expect(told).toMatch(/^1\t(alpha|beta)\n\n\[The following instructions apply to files below/);
    const [first, ...others] = session.requests;
    for (const request of others) expect(request.systemPrompt).toBe(first?.systemPrompt ?? "");
  });

  test("join the result of an edit and of a search as well, and not that of a call that failed", async () => {
    await using session = await open([
      read("pkg/missing.txt"),
      { toolCalls: [{ name: "grep", input: { pattern: "alpha", path: "pkg" } }] },
      { text: "done" },
    ]);
    await session.agent.prompt("go");
    const [failed, found] = outputsOf(session.requests.at(-1)?.messages);
    expect(failed).not.toContain("Package rule.");
    expect(found).toContain("Package rule.");
  });

  test("that are longer than a file may be are shown truncated, as in the prompt", async () => {
    await using session = await open([read("pkg/a.txt"), { text: "done" }], { contextWindow: 200_000 });
    put(join(session.cwd, "pkg", "AGENTS.md"), "x".repeat(40_000));
    await session.agent.prompt("go");
    const [output] = outputsOf(session.requests.at(-1)?.messages);
    expect(output).toContain(`${"x".repeat(32_768)}\n...(truncated)`);
  });

  test("are added again once a compaction has taken their result out of the context", async () => {
    const long = "word ".repeat(3_000);
    const turns = [read("pkg/a.txt"), { text: long }, read("pkg/b.txt"), { text: "done" }];
    await using session = await open(turns, { summaries: [{ text: GOOD_SUMMARY }], contextWindow: 11_000 });
    await session.agent.prompt("one");
    await session.agent.prompt(long);
    expect(JSON.stringify(session.requests.at(-1)?.messages[0])).toContain("[Session Summary]");
    const outputs = outputsOf(session.requests.at(-1)?.messages);
    expect(outputs).toHaveLength(1);
    expect(outputs.flatMap(toldIn)).toEqual(["pkg/AGENTS.md"]);
  });
});

describe("calls that name files in other ways", () => {
  const patch = "*** Begin Patch\n*** Update File: pkg/a.txt\n-alpha\n+gamma\n*** End Patch";
  const bash = (command: string) => ({ name: "bash", input: { command } });

  test.each<[what: string, call: object, isAdded: boolean]>([
    ["a patch", { name: "apply_patch", input: { patch } }, true],
    ["a command that names a file", bash("cat pkg/a.txt"), true],
    ["a command in the directory", bash("cd pkg && ls"), true],
    ["a command that names a quoted file", bash('grep -c alpha "pkg/a.txt"'), true],
    ["a command that names no such file", bash("ls pkg2; echo pkg/missing.txt"), false],
  ])("add the instructions of its directory: %s", async (_, call, isAdded) => {
    await using session = await open(
      [{ toolCalls: [call] }, read("pkg/b.txt"), { text: "done" }],
      {},
      "once",
    );
    await session.agent.prompt("go");
    const [first = "", second = ""] = outputsOf(session.requests.at(-1)?.messages);
    expect(first.includes("Package rule.")).toBe(isAdded);
    expect(second.includes("Package rule.")).toBe(!isAdded);
  });
});

test("an instruction file below the working directory that cannot be used is reported once", async () => {
  await using session = await open([read("pkg/a.txt"), read("pkg/b.txt"), { text: "done" }]);
  rmSync(join(session.cwd, "pkg", "AGENTS.md"));
  symlinkSync("/etc/hostname", join(session.cwd, "pkg", "AGENTS.md"));
  const notices: string[] = [];
  session.agent.subscribe((event) => {
    if (event.type === "notice") notices.push(event.message);
  });
  await session.agent.prompt("go");
  expect(notices).toEqual([expect.stringContaining("pkg/AGENTS.md")]);
});

test("what a restored prompt does not say is noted after a compaction was undone", async () => {
  const directory = realpathSync(makeTempDir());
  const cwd = join(directory, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  put(join(cwd, "AGENTS.md"), "First rule.");
  put(join(cwd, "CLAUDE.md"), "Removed rule.");
  const turns = ["one", "two", "three", "four"].map((text) => ({ text: text.repeat(2_000) }));
  const script = parseScript(
    JSON.stringify({ version: 1, contextWindow: 60_000, turns, summaries: [{ text: GOOD_SUMMARY }] }),
    "script.json",
  );
  const played = createScriptedStream(script, { startAtTurn: 0 });
  const requests: StreamContext[] = [];
  const harness = await createHarness({ cwd, environment: { HOME: directory, PATH: process.env.PATH } });
  const { session } = await harness.openSession(
    { fresh: true },
    {
      model: {
        model: scriptedModel("script.json", script),
        streamFunction: (model, context, options) => {
          requests.push(structuredClone(context));
          return played(model, context, options);
        },
      },
    },
  );
  const say = (content: string) => session.run({ role: "user", content, timestamp: 0 }).result();
  await say("one");
  await say("two");
  put(join(cwd, "AGENTS.md"), "Second rule.");
  rmSync(join(cwd, "CLAUDE.md"));
  expect((await session.compact()).kind).toBe("compacted");
  expect((await session.undoCompaction()).kind).toBe("undone");
  await say("three");
  const { systemPrompt, messages } = requests.at(-1) ?? { messages: [] };
  expect(systemPrompt).toContain("First rule.");
  expect(JSON.stringify(messages.at(-1))).toContain("Second rule.");
  expect(JSON.stringify(messages.at(-1))).toContain("CLAUDE.md is gone or unusable");
  await say("four");
  expect(JSON.stringify(requests.at(-1)?.messages.at(-1))).not.toContain("rule");
  await harness.close();
});

describe("a change of an instruction file", () => {
  test("is noted after the next prompt, and the prefix of the request stays the same", async () => {
    await using session = await open([
      read("pkg/a.txt"),
      { text: "one" },
      { text: "two" },
      { text: "three" },
    ]);
    await session.agent.prompt("one");
    put(join(session.cwd, "AGENTS.md"), "New root rule.");
    put(join(session.cwd, "pkg", "AGENTS.md"), "New package rule.");
    await session.agent.prompt("two");
    const [, before, after] = session.requests;
    expect(after?.systemPrompt).toBe(before?.systemPrompt ?? "");
    expect(after?.messages.slice(0, before?.messages.length)).toEqual([...(before?.messages ?? [])]);
    const note = JSON.stringify(after?.messages.at(-1));
    expect(note).toContain("Instruction files have changed since they were loaded");
    for (const rule of ["New root rule.", "New package rule."]) expect(note).toContain(rule);
    await session.agent.prompt("three");
    expect(JSON.stringify(session.requests.at(-1)?.messages).match(/have changed since/g)).toHaveLength(1);
  });

  test("is not noted if only the time has changed, and a removed file is named", async () => {
    await using session = await open([{ text: "one" }, { text: "two" }, { text: "three" }]);
    await session.agent.prompt("one");
    utimesSync(join(session.cwd, "AGENTS.md"), 1, 1);
    await session.agent.prompt("two");
    expect(JSON.stringify(session.requests.at(-1)?.messages)).not.toContain("have changed");
    rmSync(join(session.cwd, "AGENTS.md"));
    await session.agent.prompt("three");
    expect(JSON.stringify(session.requests.at(-1)?.messages)).toContain("AGENTS.md is gone or unusable");
  });

  test("to a long text is announced without it", async () => {
    await using session = await open([{ text: "one" }, { text: "two" }]);
    await session.agent.prompt("one");
    writeFileSync(join(session.cwd, "AGENTS.md"), "x".repeat(30_000));
    await session.agent.prompt("two");
    const last = JSON.stringify(session.requests.at(-1)?.messages);
    expect(last).toContain("too long to be shown here. Read the file");
    expect(last).not.toContain("xxxx");
  });

  test("below the working directory is noted once after the session was opened again", async () => {
    const directory = realpathSync(makeTempDir());
    const cwd = join(directory, "project");
    mkdirSync(join(cwd, ".git"), { recursive: true });
    for (const name of ["changed", "removed", "same"]) {
      put(join(cwd, name, "AGENTS.md"), `First rule of ${name}.`);
      put(join(cwd, name, "a.txt"), "alpha");
    }
    const turns = [
      read("changed/a.txt", "removed/a.txt", "same/a.txt"),
      { text: "one" },
      { text: "two" },
      { text: "three" },
      { text: "four" },
    ];
    const script = parseScript(JSON.stringify({ version: 1, turns }), "script.json");
    const played = createScriptedStream(script, { startAtTurn: 0 });
    const requests: StreamContext[] = [];
    const prompt = async (start: SessionStart, content: string) => {
      const harness = await createHarness({ cwd, environment: { HOME: directory, PATH: process.env.PATH } });
      const { session } = await harness.openSession(start, {
        model: {
          model: scriptedModel("script.json", script),
          streamFunction: (model, context, options) => {
            requests.push(structuredClone(context));
            return played(model, context, options);
          },
        },
      });
      await session.run({ role: "user", content, timestamp: 0 }).result();
      await harness.close();
      return JSON.stringify(requests.at(-1)?.messages.at(-1));
    };
    await prompt({ fresh: true }, "one");
    put(join(cwd, "changed", "AGENTS.md"), "Second rule of changed.");
    rmSync(join(cwd, "removed", "AGENTS.md"));
    const note = await prompt({ resume: { latest: true } }, "two");
    expect(note).toContain("Second rule of changed.");
    expect(note).toContain("removed/AGENTS.md is gone or unusable");
    expect(note).not.toContain("rule of same");
    expect(await prompt({ resume: { latest: true } }, "three")).not.toContain("have changed since");
    put(join(cwd, "same", "AGENTS.md"), "Second rule of same.");
    expect(await prompt({ resume: { latest: true } }, "four")).toContain("Second rule of same.");
  });
});
