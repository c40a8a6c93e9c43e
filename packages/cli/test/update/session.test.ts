import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as completions from "../../../core/test/support/compatible-answers.ts";
import { type SseServer, startSseServer } from "../../../core/test/support/sse-server.ts";
import type { CliIo } from "../../src/io/io.ts";
import { runLinePrompt } from "../../src/line-prompt/line-prompt.ts";
import { runPrint } from "../../src/print/print.ts";
import { runTui } from "../../src/tui/app.ts";
import { storeAnswer } from "../../src/update/update.ts";
import { VERSION } from "../../src/version.ts";
import { FakeIo } from "../support/fake-io.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../support/typed-commands.ts";
import { neverAnswer, startVersionServer, type VersionServer } from "../support/version-server.ts";

const NEWS = `diligent 999.0.0 is available; this is ${VERSION}.`;
const QUESTION_END = " / n: ";
const COMMAND = {
  kind: "run" as const,
  isPrint: false,
  options: { model: "local/qwen3", isSaved: true, isVerbose: false },
};

let place: TemporaryProject;
let model: SseServer;
let state: string;

beforeEach(async () => {
  place = createTemporaryProject();
  state = join(place.home, ".local", "state", "diligent");
  model = await startSseServer(completions.answerReply(completions.textAnswer("The answer.")));
});

afterEach(async () => {
  await model[Symbol.asyncDispose]();
  place.remove();
});

/** The user's configuration: a model on loopback, and possibly an update address. */
function configure(more: object = {}): void {
  const compatible = { local: { baseUrl: `${model.url}/v1`, models: ["qwen3"] } };
  place.configure({ sandbox: "off", provider: { compatible }, ...more });
}

/** The log of the only run so far; empty before it has begun. */
function requestLog(): string {
  const directory = join(state, "requests");
  const [log] = existsSync(directory) ? readdirSync(directory) : [];
  return log === undefined ? "" : readFileSync(join(directory, log), "utf8");
}

const recordPath = () => join(state, "update.json");

/** Stores an answer of a moment ago, so that nothing depends on the server's speed. */
async function configureKnown(): Promise<void> {
  const updateUrl = "http://127.0.0.1:9/latest";
  configure({ updateUrl });
  await storeAnswer(recordPath(), { url: updateUrl, at: Date.now() }, "999.0.0");
}

function createIo(lines?: ReadableStream<Uint8Array>): FakeIo {
  const io = new FakeIo();
  io.cwd = place.project;
  io.environment = { PATH: "/usr/bin:/bin", HOME: place.home, TMPDIR: place.temporary };
  if (lines) io.stdin = { isTerminal: true, stream: () => lines };
  return io;
}

async function openTyped(options: object = {}): Promise<TypedCommands> {
  return new TypedCommands(place, { options: { model: "local/qwen3", ...options } }).open();
}

/** Resolves once it has asked; the answer may still be on its way. */
async function asked(server: VersionServer): Promise<void> {
  while (server.requests.length === 0) await Bun.sleep(2);
}

test("the update server is asked once, after the first request to the model, by the first of two sessions", async () => {
  const modelRequests: number[] = [];
  await using server = startVersionServer(() => {
    modelRequests.push(model.requests.length);
    return "999.0.0";
  });
  configure({ updateUrl: server.url });
  const first = await openTyped();
  expect([server.requests, existsSync(recordPath())]).toEqual([[], false]);
  await first.say("one");
  await asked(server);
  await first.say("two");
  await first.close();
  const second = await openTyped();
  await second.say("three");
  await second.close();
  expect([modelRequests, server.requests.length, model.requests.length]).toEqual([[1], 1, 3]);
});

test("a known newer version is announced once per session, whatever follows", async () => {
  await configureKnown();
  const typed = await openTyped();
  expect(typed.take("notice")).toEqual([]);
  await typed.say("one");
  while (!typed.blocks.some(({ type }) => type === "notice")) await Bun.sleep(2);
  await typed.run("/new");
  await typed.say("two");
  expect(typed.take("notice").filter((text) => text === NEWS)).toEqual([NEWS]);
  await typed.close();
});

test("without updateUrl nothing is written and nothing announced", async () => {
  configure();
  const typed = await openTyped();
  await typed.say("one");
  await typed.close();
  expect(existsSync(recordPath())).toBe(false);
  expect(typed.take("notice")).toEqual([]);
});

test("a project cannot set the update server", async () => {
  await using server = startVersionServer(() => "999.0.0");
  configure();
  place.write("diligent.jsonc", { updateUrl: server.url });
  const typed = await openTyped();
  await typed.say("one");
  await typed.close();
  expect(typed.take("notice")).toEqual([
    `warning: ${join(place.project, "diligent.jsonc")}: ignored because only your own configuration can set it: updateUrl`,
  ]);
  expect([server.requests, existsSync(recordPath())]).toEqual([[], false]);
});

test("a scripted model causes no network request, not even for updates", async () => {
  await using server = startVersionServer(() => "999.0.0");
  configure({ updateUrl: server.url });
  writeScript(place, "The answer.");
  const typed = await openTyped({ model: "scripted/script.json" });
  await typed.say("one");
  await typed.close();
  expect([server.requests, existsSync(recordPath())]).toEqual([[], false]);
});

test("print mode asks for no update and announces none", async () => {
  await configureKnown();
  const before = readFileSync(recordPath(), "utf8");
  const io = createIo();
  expect(await runPrint({ ...COMMAND, isPrint: true, prompt: "one" }, io)).toBe(0);
  expect([io.stdout.text, io.stderr.text.includes("999")]).toEqual(["The answer.\n", false]);
  expect(readFileSync(recordPath(), "utf8")).toBe(before);
});

/** The line prompt with an initial prompt, and input for it. */
function startLinePrompt(): { io: FakeIo; type(line: string): Promise<void>; ended: Promise<number> } {
  const typing = new TransformStream<Uint8Array, Uint8Array>();
  const writer = typing.writable.getWriter();
  const io = createIo(typing.readable);
  const command = { ...COMMAND, prompt: "one", options: { ...COMMAND.options, isVerbose: true } };
  return {
    io,
    type: (line) => writer.write(new TextEncoder().encode(`${line}\n`)),
    ended: runLinePrompt(command, io),
  };
}

test("an update is announced at the line prompt on a separate line, with the prompt below it", async () => {
  await configureKnown();
  const { io, type, ended } = startLinePrompt();
  while (!io.stdout.text.includes(NEWS) || !io.stdout.text.endsWith("diligent> ")) await Bun.sleep(2);
  expect(io.stdout.text).toMatch(/^diligent 999\.0\.0 is available; this is \S+\.$/m);
  await type("/quit");
  expect(await ended).toBe(0);
});

/** The model wants to run a command, which asks; the server answers once the question is open. */
async function startQuestion(server: { answer: PromiseWithResolvers<string>; url: string }) {
  const call = completions.callEntry('{"command":"touch made"}', { id: "call_1", name: "bash" });
  await model[Symbol.asyncDispose]();
  model = await startSseServer(
    completions.answerReply([completions.callChunk(call), completions.finishChunk("tool_calls")]),
    completions.answerReply(completions.textAnswer("The answer.")),
  );
  configure({ updateUrl: server.url });
  const prompt = startLinePrompt();
  while (!prompt.io.stdout.text.endsWith(QUESTION_END)) await Bun.sleep(2);
  server.answer.resolve("999.0.0");
  while (!requestLog().includes('"update"')) await Bun.sleep(2);
  expect(prompt.io.stdout.text.endsWith(QUESTION_END)).toBe(true);
  return prompt;
}

test("an update is not announced within a question, but above the next prompt", async () => {
  const answer = Promise.withResolvers<string>();
  await using server = startVersionServer(async () => Response.json({ version: await answer.promise }));
  const { io, type, ended } = await startQuestion({ answer, url: server.url });
  await type("n not now");
  while (!io.stdout.text.endsWith("diligent> ")) await Bun.sleep(2);
  expect(io.stdout.text).toEndWith(`\n${NEWS}\ndiligent> `);
  await type("/quit");
  expect(await ended).toBe(0);
});

test("an update is not announced to a user who quits at a question", async () => {
  const answer = Promise.withResolvers<string>();
  await using server = startVersionServer(async () => Response.json({ version: await answer.promise }));
  const { io, ended } = await startQuestion({ answer, url: server.url });
  io.send("SIGTERM");
  expect(await ended).toBe(143);
  expect(io.stdout.text).not.toContain(NEWS);
});

test("the screen quits at once while the update server hangs, and the log contains the result", async () => {
  await using server = startVersionServer(neverAnswer);
  configure({ updateUrl: server.url });
  const io = createIo();
  const { terminal, host } = await io.openTerminal();
  const screen: CliIo = { ...io, openTerminal: async () => ({ terminal, host, writeNow() {} }) };
  const command = { ...COMMAND, prompt: "one", options: { ...COMMAND.options, isVerbose: true } };
  const ended = runTui(command, screen);
  await asked(server);
  io.send("SIGTERM");
  expect(await ended).toBe(143);
  while (!requestLog().includes('"update"')) await Bun.sleep(2);
  const entries: object[] = requestLog()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(entries.filter((entry) => "type" in entry && entry.type === "update")).toEqual([
    { type: "update", time: expect.any(String), problem: "the program quit meanwhile" },
  ]);
  expect(requestLog()).not.toContain(server.url);
});
