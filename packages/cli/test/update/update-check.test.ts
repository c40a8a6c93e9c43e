import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import {
  EventStream,
  type Model,
  ProviderError,
  type ProviderEvent,
  type ProviderResult,
  type StreamFunction,
} from "@diligent/core";
import { TEST_MODEL } from "../../../core/test/support/models.ts";
import { storeAnswer, updateRecordPath } from "../../src/update/update.ts";
import { UpdateCheck } from "../../src/update/update-check.ts";
import { VERSION } from "../../src/version.ts";
import { FakeIo } from "../support/fake-io.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { neverAnswer, startVersionServer } from "../support/version-server.ts";

const URL_OF_NOBODY = "http://127.0.0.1:9/latest";
const STALL: ProviderEvent = { type: "stall", silentMs: 1 };
const FAILURE: ProviderEvent = { type: "error", error: new ProviderError("no", "network") };
const RETRY: ProviderEvent = { ...FAILURE, type: "retry", attempt: 2, delayMs: 1 };

let place: TemporaryProject;
let io: FakeIo;
let told: string[];
let looking: UpdateCheck;

beforeEach(() => {
  place = createTemporaryProject();
  io = new FakeIo();
  io.environment = { HOME: place.home };
  told = [];
  looking = new UpdateCheck(io, (text) => told.push(text));
});

afterEach(() => place.remove());

const createStream = () =>
  new EventStream<ProviderEvent, ProviderResult>(
    ({ type }) => type === "done" || type === "error",
    (event) => {
      if (event.type === "done") return { message: event.message };
      throw event;
    },
  );

/** Sends a request to a scripted model; resolves with the log entry of the update check. */
async function ask(
  url: string,
  events: readonly ProviderEvent[],
  model: Model = TEST_MODEL,
): Promise<object> {
  const noted = Promise.withResolvers<object>();
  const stream = createStream();
  const beside = looking.watchStream(() => stream, { url, note: noted.resolve });
  beside(model, { systemPrompt: "", messages: [], tools: [] }, {});
  for (const event of events) stream.push(event);
  return noted.promise;
}

/** The answer of a moment ago. */
async function keep(version: string, url = URL_OF_NOBODY): Promise<void> {
  await storeAnswer(updateRecordPath(io.environment), { url, at: Date.now() }, version);
}

/** Resolves when started work had time to progress, to prove that something does not happen. */
async function wait(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Bun.sleep(1);
}

test("UpdateCheck does not wrap the stream without an address", () => {
  const stream: StreamFunction = createStream;
  expect(looking.watchStream(stream, { url: undefined })).toBe(stream);
});

test("UpdateCheck announces a newer version once, when an answer begins", async () => {
  await keep("999.0.0");
  const noted = await ask(URL_OF_NOBODY, [{ type: "start" }, { type: "text_delta", delta: "a" }]);
  const news = `diligent 999.0.0 is available; this is ${VERSION}.`;
  expect(noted).toEqual({
    type: "update",
    time: expect.any(String),
    isAsked: false,
    version: "999.0.0",
    news,
  });
  void ask(URL_OF_NOBODY, [{ type: "start" }]);
  await wait();
  expect(told).toEqual([news]);
});

test.each(["0.0.1", VERSION])("UpdateCheck does not announce %p, which is not newer", async (version) => {
  await keep(version);
  expect(await ask(URL_OF_NOBODY, [RETRY, STALL, { type: "alive" }])).toMatchObject({ version });
  expect(told).toEqual([]);
});

test("UpdateCheck asks nobody before an answer begins, nor for a request without an answer", async () => {
  await using server = startVersionServer(() => "999.0.0");
  void ask(server.url, []);
  void ask(server.url, [RETRY, STALL, FAILURE]);
  void ask(server.url, [{ type: "start" }], { ...TEST_MODEL, provider: "scripted" });
  await wait();
  expect([server.requests, existsSync(updateRecordPath(io.environment))]).toEqual([[], false]);
});

test("UpdateCheck reports a failure only to the log", async () => {
  expect(await ask(URL_OF_NOBODY, [{ type: "start" }])).toEqual({
    type: "update",
    time: expect.any(String),
    problem: expect.any(String),
  });
  expect(told).toEqual([]);
});

test("UpdateCheck cancels its request and announces nothing when the program quits", async () => {
  const isLeft = Promise.withResolvers<void>();
  await using server = startVersionServer((request) => {
    request.signal.addEventListener("abort", () => isLeft.resolve());
    return neverAnswer();
  });
  const noted = ask(server.url, [{ type: "start" }]);
  while (server.requests.length === 0) await Bun.sleep(1);
  looking.stop();
  expect(await noted).toMatchObject({ problem: "the program quit meanwhile" });
  await isLeft.promise;
  expect(told).toEqual([]);
});

test("UpdateCheck announces nothing on a screen that is gone", async () => {
  await keep("999.0.0");
  looking.stop();
  await ask(URL_OF_NOBODY, [{ type: "start" }]);
  expect(told).toEqual([]);
});
