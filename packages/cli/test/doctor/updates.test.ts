import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkUpdates } from "../../src/commands/doctor.ts";
import { runCli } from "../../src/run-cli.ts";
import { VERSION } from "../../src/version.ts";
import { FakeIo } from "../support/fake-io.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";
import { startVersionServer } from "../support/version-server.ts";

const ONLINE = { isOffline: false, version: "0.2.1" };

test("doctor asks for no update without an address", async () => {
  const message = 'not checked: "updateUrl" is not set';
  expect(await checkUpdates({}, ONLINE)).toEqual({ name: "updates", status: "skipped", message });
});

test.each([
  ["0.3.0", "warning", "diligent 0.3.0 is available; this is 0.2.1"],
  ["0.2.1", "ok", "up to date: newest at URL is 0.2.1"],
  ["0.2.0", "ok", "up to date: newest at URL is 0.2.0"],
  ["9.9.9\x1b[2J", "warning", "URL could not be reached: the answer contains no version"],
])("doctor reports the update answer %p: %s, %s", async (version, status, message) => {
  await using server = startVersionServer(() => version);
  const check = await checkUpdates({ updateUrl: `${server.url}?token=secret` }, ONLINE);
  expect(check).toMatchObject({ name: "updates", status, message: message.replace("URL", server.url) });
  expect(JSON.stringify(check)).not.toContain("secret");
});

test("doctor --offline asks for no update", async () => {
  await using server = startVersionServer(() => "0.3.0");
  const check = await checkUpdates({ updateUrl: server.url }, { ...ONLINE, isOffline: true });
  expect(check).toMatchObject({ status: "skipped", message: `${server.url} was not contacted` });
  expect(server.requests).toEqual([]);
});

test("doctor asks for an update at once, however recent the last check was, and stores nothing", async () => {
  await using server = startVersionServer(() => "999.0.0");
  const place = createTemporaryProject();
  place.configure({ updateUrl: server.url });
  const io = new FakeIo();
  io.cwd = place.project;
  io.environment = { PATH: "/usr/bin:/bin", HOME: place.home, DILIGENT_MODEL: "scripted/x.json" };
  for (const count of [1, 2]) {
    await runCli(["doctor"], io);
    expect(server.requests).toHaveLength(count);
  }
  expect(io.stdout.text).toContain(
    `warning updates        diligent 999.0.0 is available; this is ${VERSION}\n`,
  );
  expect(existsSync(join(place.home, ".local", "state", "diligent", "update.json"))).toBe(false);
  place.remove();
});
