import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GrantStore } from "../../src/approval/grant-store.ts";
import type { Grant } from "../../src/approval/grants.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const grant = (word: string): Grant => ({ kind: "command", directory: "/x", words: [word] });

function place() {
  const top = makeTempDir();
  const environment = { HOME: top, XDG_STATE_HOME: join(top, "state") };
  return {
    file: join(top, "state", "diligent", "grants.json"),
    store: (root = "/app") => new GrantStore({ environment, root }),
  };
}

test("grants are listed once each with their scope, including those just given", async () => {
  const { store } = place();
  await store().addForProject([grant("old")]);
  const current = store();
  await current.addForSession([grant("session")]);
  await current.addForProject([grant("new"), grant("old")]);
  expect(await current.listByScope()).toEqual([
    { grant: grant("old"), scope: "project" },
    { grant: grant("new"), scope: "project" },
    { grant: grant("session"), scope: "session" },
  ]);
});

test("a revoked grant applies neither now nor later, and the others stay", async () => {
  const { store } = place();
  const current = store();
  await current.addForProject([grant("a"), grant("b")]);
  await current.addForSession([grant("c"), grant("a")]);
  await current.remove(grant("a"));
  expect(await current.listByScope()).toEqual([
    { grant: grant("b"), scope: "project" },
    { grant: grant("c"), scope: "session" },
  ]);
  expect(await store().list()).toEqual([grant("b")]);
  await current.remove(grant("c"));
  expect(await current.list()).toEqual([grant("b"), grant("b")]);
});

test("a grant of an earlier session is removed from the file, and entries of a later version stay", async () => {
  const { file, store } = place();
  mkdirSync(join(file, ".."), { recursive: true, mode: 0o700 });
  const later = { kind: "host", name: "example.org" };
  const other = { directory: "/other", grants: [grant("a")] };
  const projects = [other, { directory: "/app", grants: [later, grant("a")] }];
  writeFileSync(file, JSON.stringify({ version: 1, projects }), { mode: 0o600 });
  await store().remove(grant("a"));
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    version: 1,
    projects: [other, { directory: "/app", grants: [later] }],
  });
});

test("a grant that cannot be removed from the file no longer applies in this session, and the failure is reported", async () => {
  const { file, store } = place();
  const current = store();
  await current.addForProject([grant("a")]);
  writeFileSync(file, "{");
  chmodSync(file, 0o600);
  await expect(current.remove(grant("a"))).rejects.toThrow();
  expect(await current.list()).toEqual([]);
});

test("revoking an unknown grant is not an error", async () => {
  const { store } = place();
  await store().remove(grant("a"));
  expect(await store().list()).toEqual([]);
});
