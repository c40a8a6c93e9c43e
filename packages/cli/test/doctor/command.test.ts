import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolvePaths } from "@diligent/core/light";
import { ROOT_CAN_ANYWAY, testUnless } from "../../../core/test/support/test-unless.ts";
import { checkConnection, checkLocation, checkProjectLocation } from "../../src/commands/doctor.ts";
import { runCli } from "../../src/run-cli.ts";
import { VERSION } from "../../src/version.ts";
import { FakeIo } from "../support/fake-io.ts";
import { bareEnvironment, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const KEY = "sk-never-shown-to-anybody";

const places: TemporaryProject[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});

function createPlace(): TemporaryProject {
  const place = createTemporaryProject();
  places.push(place);
  return place;
}

interface Found {
  name: string;
  status: string;
  message: string;
}

async function examine(place: TemporaryProject, environment: Record<string, string>, ...options: string[]) {
  const { stdout, exitCode } = await runDiligent(place, ["doctor", "--json", ...options], { environment });
  const { ok, checks }: { ok: boolean; checks: Found[] } = JSON.parse(stdout);
  const find = (name: string) => checks.find((check) => check.name === name);
  return { exitCode, ok, checks, stdout, find };
}

/** Counts its requests, with their headers. */
function startEndpoint(status = 404) {
  const requests: { method: string; path: string; headers: string }[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ method, url, headers }) {
      requests.push({ method, path: new URL(url).pathname, headers: JSON.stringify([...headers]) });
      return new Response(null, { status });
    },
  });
  return { requests, url: `${server.url.origin}/v9`, [Symbol.dispose]: () => void server.stop(true) };
}

test("doctor succeeds with a key and a reachable provider, and writes nothing", async () => {
  const place = createPlace();
  using endpoint = startEndpoint();
  const environment = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: `${endpoint.url}?token=${KEY}` };
  const { exitCode, ok, find, stdout } = await examine(place, environment);
  expect([exitCode, ok]).toEqual([0, true]);
  expect(find("diligent")?.message).toStartWith(VERSION);
  expect(find("key")).toEqual({ name: "key", status: "ok", message: "found for anthropic" });
  expect(find("endpoint")).toMatchObject({ status: "ok", message: expect.stringContaining("answered 404") });
  expect(stdout).not.toContain(KEY);
  expect(endpoint.requests).toEqual([
    { method: "HEAD", path: "/v9", headers: expect.not.stringContaining(KEY) },
  ]);
  // Bun has its own directory for compiled code.
  const left = [...readdirSync(place.home).filter((name) => name !== ".bun"), ...readdirSync(place.project)];
  expect(left).toEqual([".git"]);
});

test("doctor without a key says how to get one and exits with 1", async () => {
  const { exitCode, ok, find } = await examine(createPlace(), {}, "--offline");
  expect([exitCode, ok]).toEqual([1, false]);
  expect(find("key")).toEqual({
    name: "key",
    status: "problem",
    message: "none for anthropic",
    hint: "run diligent login anthropic, or set ANTHROPIC_API_KEY; get one at https://console.anthropic.com/settings/keys",
  } as Found);
  expect(find("endpoint")).toMatchObject({ status: "skipped" });
});

test("doctor --offline makes no connection", async () => {
  using endpoint = startEndpoint();
  const environment = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: endpoint.url };
  const { exitCode } = await examine(createPlace(), environment, "--offline");
  expect([exitCode, endpoint.requests]).toEqual([0, []]);
});

test("doctor reports an unreachable provider as a problem", async () => {
  const environment = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
  const { exitCode, find } = await examine(createPlace(), environment);
  expect([exitCode, find("endpoint")]).toEqual([1, expect.objectContaining({ status: "problem" })]);
});

test("doctor describes a provider that closes the connection in our words", async () => {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.terminate() },
  });
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const provider = { name: "anthropic", hasKey: true, baseUrl };
  expect(await checkConnection(provider, { isOffline: false, environment: {} })).toMatchObject({
    status: "problem",
    message: `${baseUrl}/ does not answer: the connection was closed before the answer was complete (ECONNRESET)`,
  });
  server.stop(true);
});

test.each([
  [503, "warning"],
  [500, "warning"],
  // A server that does not know HEAD, and one that wants a key first.
  [501, "ok"],
  [401, "ok"],
])("doctor reports a provider that answers %i as %s", async (code, status) => {
  using endpoint = startEndpoint(code);
  const provider = { name: "anthropic", hasKey: true, baseUrl: endpoint.url };
  const message = expect.stringContaining(`answered ${code} after`);
  expect(await checkConnection(provider, { isOffline: false, environment: {} })).toMatchObject({
    status,
    message,
  });
});

test("doctor can check a model other than the configured one", async () => {
  const environment = { ANTHROPIC_API_KEY: KEY };
  const { exitCode, find } = await examine(createPlace(), environment, "--offline", "-m", "sol");
  expect([exitCode, find("model"), find("key")]).toEqual([
    1,
    { name: "model", status: "ok", message: "sol (openai)" },
    expect.objectContaining({ status: "problem", message: "none for openai" }),
  ]);
});

test.skipIf(process.platform !== "linux")(
  "doctor rejects a directory of a kernel file system (skipped without /proc)",
  () => {
    expect(checkLocation("state", "/proc/nobody/.local/state/diligent")).toMatchObject({
      status: "warning",
      message: expect.stringMatching(/^\/proc(\/nobody\S* cannot be created| cannot be written to)/),
    });
  },
);

test("doctor reports that no directory can be created below a file", () => {
  const path = createPlace().write("program", "");
  chmodSync(path, 0o755);
  expect(checkLocation("state", join(path, "state"))).toEqual({
    name: "state",
    status: "warning",
    message: `${path} is a file, not a directory`,
    hint: "nothing can be saved there",
  });
});

test("doctor names a file or a link in the place of a directory", () => {
  const place = createPlace();
  const paths = resolvePaths(place.project);
  const hint = "nothing can be saved there";
  symlinkSync("/no/such/place", paths.root);
  const message = `${paths.root} is a broken symbolic link`;
  expect(checkProjectLocation(paths)).toEqual({ name: "project", status: "warning", message, hint });
  expect(checkLocation("state", join(paths.root, "state"))).toEqual({
    name: "state",
    ...{ status: "warning", message, hint },
  });
  const file = place.write("state", "");
  expect(checkLocation("state", file).message).toBe(`${file} is a file, not a directory`);
});

test("doctor reports a broken configuration and still checks everything else", async () => {
  const place = createPlace();
  place.write("diligent.jsonc", '{ "maxTurns": "many" }');
  const { exitCode, find } = await examine(place, {}, "--offline");
  expect(exitCode).toBe(1);
  expect(find("configuration")).toMatchObject({
    status: "problem",
    message: expect.stringContaining("maxTurns"),
  });
  expect(find("bash")).toMatchObject({ status: "ok" });
});

test("doctor needs neither key nor provider for a script, which must exist and be valid", async () => {
  const place = createPlace();
  const environment = { DILIGENT_MODEL: "scripted/x.json" };
  const missing = await examine(place, environment);
  expect([missing.exitCode, missing.find("model")]).toEqual([
    1,
    { name: "model", status: "problem", message: expect.stringContaining("x.json") },
  ]);
  place.write("x.json", { version: 1, turns: [{ text: "Hello." }] });
  const { exitCode, find } = await examine(place, environment);
  expect([exitCode, find("key"), find("endpoint")]).toEqual([0, undefined, undefined]);
});

testUnless(ROOT_CAN_ANYWAY)("doctor warns about a project that cannot be written to", async () => {
  const place = createPlace();
  chmodSync(place.project, 0o500);
  const { find } = await examine(place, { ANTHROPIC_API_KEY: KEY }, "--offline");
  chmodSync(place.project, 0o700);
  expect(find("project")).toMatchObject({ status: "warning" });
});

test("doctor warns about a state directory that others may write to", async () => {
  const place = createPlace();
  const state = join(place.home, ".local", "state", "diligent");
  mkdirSync(state, { recursive: true });
  chmodSync(state, 0o777);
  const { find } = await examine(place, { ANTHROPIC_API_KEY: KEY }, "--offline");
  expect(find("state")).toMatchObject({ status: "warning", hint: `chmod go-w ${state}` });
});

test("doctor does not run a bwrap in the project", async () => {
  const place = createPlace();
  writeFileSync(join(place.project, "bwrap"), `#!/bin/sh\ntouch ${place.top}/canary\n`, { mode: 0o755 });
  const environment = { ANTHROPIC_API_KEY: KEY, PATH: `${place.project}:${bareEnvironment(place).PATH}` };
  await examine(place, environment, "--offline");
  expect(readdirSync(place.top).sort()).toEqual(["home", "project", "tmp"]);
});

test("doctor prints a line per check for people, with hints below", async () => {
  const { stdout, exitCode } = await runDiligent(createPlace(), ["doctor", "--offline"]);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^ok {6}diligent {7}\S/);
  expect(stdout).toMatch(
    /^PROBLEM key {12}none for anthropic\n {23}run diligent login anthropic, or set ANTHROPIC_API_KEY/m,
  );
  expect(stdout).not.toContain("\x1b");
});

test("doctor refuses arguments", async () => {
  const io = new FakeIo();
  expect([await runCli(["doctor", "who"], io), io.stderr.text]).toEqual([
    2,
    "diligent: doctor takes no arguments; for another directory: -C who\n",
  ]);
});
