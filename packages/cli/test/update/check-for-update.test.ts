import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { ROOT_CAN_ANYWAY, testUnless } from "../../../core/test/support/test-unless.ts";
import { checkForUpdate } from "../../src/update/update.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { startVersionServer } from "../support/version-server.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const START = Date.UTC(2026, 10, 22, 9);

let place: TemporaryProject;
let path: string;

beforeEach(() => {
  place = createTemporaryProject();
  path = join(place.home, ".local", "state", "diligent", "update.json");
});

afterEach(() => place.remove());

const look = (url: string, at: number) =>
  checkForUpdate(url, {
    environment: { HOME: place.home },
    at,
    current: "0.2.1",
    // A local answer is awaited however busy the machine is.
    timeoutMs: 4 * BUSY_MS,
  });

const NEWS = { version: "0.3.0", news: "diligent 0.3.0 is available; this is 0.2.1." };

test("the answer counts for a day, in which no server is asked again", async () => {
  await using server = startVersionServer(() => "0.3.0");
  expect(await look(server.url, START)).toEqual({ isAsked: true, ...NEWS });
  expect(await look(server.url, START)).toEqual({ isAsked: false, ...NEWS });
  expect(await look(server.url, START + DAY_MS - 1)).toEqual({ isAsked: false, ...NEWS });
  expect(server.requests).toHaveLength(1);
  expect(await look(server.url, START + DAY_MS)).toEqual({ isAsked: true, ...NEWS });
  expect(server.requests).toHaveLength(2);
});

test("only the version, the time and a fingerprint of the address are stored, readable only by the user", async () => {
  await using server = startVersionServer(() => "0.3.0");
  const url = `${server.url}?token=secret`;
  await look(url, START);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
    askedAt: "2026-11-22T09:00:00.000Z",
    address: Bun.SHA256.hash(url, "hex").slice(0, 16),
    version: "0.3.0",
  });
  expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(readdirSync(dirname(path))).toEqual(["update.json"]);
});

test.each(["0.2.1", "0.2.0", "0.2.1-rc.1"])("%p causes no message", async (version) => {
  await using server = startVersionServer(() => version);
  expect(await look(server.url, START)).toEqual({ isAsked: true, version });
});

test("a failure counts for a day too, and the previous answer stays", async () => {
  const answers = ["0.3.0", new Response(null, { status: 500 })];
  await using server = startVersionServer(() => answers.shift() ?? "0.4.0");
  await look(server.url, START);
  const later = START + DAY_MS;
  await expect(look(server.url, later)).rejects.toThrow("the server answered 500");
  expect(await look(server.url, later + 1)).toEqual({ isAsked: false, ...NEWS });
  expect(server.requests).toHaveLength(2);
  expect(await look(server.url, later + DAY_MS)).toMatchObject({ isAsked: true, version: "0.4.0" });
});

test("there is no message without any answer", async () => {
  await using server = startVersionServer(() => new Response("no"));
  await expect(look(server.url, START)).rejects.toThrow("not valid JSON");
  expect(await look(server.url, START + 1)).toEqual({ isAsked: false });
});

test("one of several processes that start together asks", async () => {
  await using server = startVersionServer(() => "0.3.0");
  const found = await Promise.all(Array.from({ length: 4 }, () => look(server.url, START)));
  expect(server.requests).toHaveLength(1);
  expect(found.filter(({ isAsked }) => isAsked)).toHaveLength(1);
});

test("another address is asked at once, and the previous one's answer no longer counts", async () => {
  await using first = startVersionServer(() => "9.0.0");
  await using second = startVersionServer(() => new Response(null, { status: 404 }));
  await look(first.url, START);
  await expect(look(second.url, START + 1)).rejects.toThrow("404");
  expect(await look(second.url, START + 2)).toEqual({ isAsked: false });
});

test("a record from a clock that ran ahead does not count", async () => {
  await using server = startVersionServer(() => "0.3.0");
  await look(server.url, START + 365 * DAY_MS);
  expect(await look(server.url, START)).toEqual({ isAsked: true, ...NEWS });
});

test.each([
  ["not valid JSON", "{"],
  ["no object", "null"],
  ["no time", '{"askedAt":"soon","address":"x"}'],
  ["a number instead of a time", `{"askedAt":${START},"address":"x"}`],
  ["nothing", ""],
])("a file that contains %s is replaced", async (_, content) => {
  await using server = startVersionServer(() => "0.3.0");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  expect(await look(server.url, START)).toEqual({ isAsked: true, ...NEWS });
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ version: "0.3.0" });
});

test("a version planted in the file is shown only if it is valid", async () => {
  await using server = startVersionServer(() => "0.3.0");
  await look(server.url, START);
  const kept: object = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...kept, version: "9.9.9 is out; run evil" }));
  expect(await look(server.url, START + 1)).toEqual({ isAsked: false });
});

test("no server is asked if the check cannot be recorded", async () => {
  await using server = startVersionServer(() => "0.3.0");
  const options = { at: START, environment: { HOME: "/" } };
  await expect(checkForUpdate(server.url, options)).rejects.toThrow("no home directory");
  mkdirSync(path, { recursive: true });
  await expect(look(server.url, START)).rejects.toThrow("directory");
  expect(server.requests).toEqual([]);
});

testUnless(ROOT_CAN_ANYWAY)("no server is asked if the directory is read-only", async () => {
  await using server = startVersionServer(() => "0.3.0");
  mkdirSync(dirname(path), { recursive: true });
  chmodSync(dirname(path), 0o500);
  await expect(look(server.url, START)).rejects.toThrow();
  chmodSync(dirname(path), 0o700);
  expect([server.requests, existsSync(path)]).toEqual([[], false]);
});
