import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CODEX_ID, writeCodex, writeOpencode } from "../../core/test/support/foreign-fixtures.ts";
import { runDiligent, startDiligent } from "./support/run-diligent.ts";
import { writeSession } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const OWN = "20260101000000-aaaaaa";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  writeSession(place, {
    id: OWN,
    modified: "2026-01-01T12:00:00.000Z",
    texts: ["where is the Needle?", "in the haystack"],
  });
  writeCodex(place);
});

afterEach(() => place.remove());

async function history(...args: string[]) {
  const { stdout, stderr, exitCode } = await runDiligent(place, ["history", ...args], {
    environment: { TZ: "UTC" },
  });
  return { stdout, stderr, exitCode };
}

test("history search prints where words occur, below their sessions, and as JSON", async () => {
  expect(await history("search", "needle")).toEqual({
    stdout: `${OWN} [2026-01-01 12:00] where is the Needle? (diligent, ${place.project})\n  00000000 user: where is the Needle?\n`,
    stderr: "",
    exitCode: 0,
  });
  expect(JSON.parse((await history("search", "screenshot", "--agent", "codex", "--json")).stdout)).toEqual([
    {
      ref: `codex:${CODEX_ID}`,
      agent: "codex",
      project: place.project,
      date: "2026-05-01T10:00:16.000Z",
      role: "user",
      text: "See the screenshot [image]",
    },
  ]);
  expect((await history("search", "unheard-of")).stdout).toBe("Nothing found.\n");
});

test("history search says how many places a limit has left out, and lists an imported session once", async () => {
  expect((await history("search", "e*", "--limit", "1")).stdout).toMatch(
    /\nThe newest 1 of \d+ places; --limit shows more\.\n$/,
  );
  const search = async () => JSON.parse((await history("search", "quote", "--json")).stdout).length;
  const before = await search();
  await runDiligent(place, ["import", "codex"]);
  expect(await search()).toBe(before);
  expect(JSON.parse((await history("search", "--since", "2026-05-01", "--json")).stdout)).not.toEqual([]);
});

test("history show, stats, reindex and forget work on sessions of every agent", async () => {
  expect((await history("show", `codex:${CODEX_ID}`)).stdout).toContain("The quote is missing.");
  expect(JSON.parse((await history("show", OWN, "--json")).stdout)).toMatchObject({
    ref: OWN,
    messages: [{ role: "user" }, { role: "assistant" }],
  });
  expect(await history("forget", `codex:${CODEX_ID}`)).toMatchObject({ exitCode: 0 });
  expect(JSON.parse((await history("reindex", "--json")).stdout)).toMatchObject({ agents: { diligent: 1 } });
  expect((await history("show", `codex:${CODEX_ID}`)).exitCode).toBe(2);
  expect((await history("stats")).stdout).toContain("Sessions: 1 (diligent 1)");
});

test("history show and forget refuse the beginning of several ids, and of an id of another agent", async () => {
  const other = "20260101000000-bbbbbb";
  writeSession(place, { id: other, modified: "2026-01-02T12:00:00.000Z", texts: ["another one", "yes"] });
  for (const action of ["show", "forget"]) {
    const { stderr, exitCode } = await history(action, "20260101");
    expect(stderr).toContain(
      `2 sessions begin with 20260101: ${other} (another one), ${OWN} (where is the Needle?)`,
    );
    expect(exitCode).toBe(2);
    expect((await history(action, "codex:")).stderr).toContain("no session codex: in the index");
  }
  expect((await history("show", "20260101000000-b")).stdout).toContain("another one");
  expect((await history("stats")).stdout).toContain("Sessions: 3 (codex 1, diligent 2)");
});

test.each([
  [["search"], "needs a word"],
  [["search", "x", "--since", "yesterday"], "--since yesterday: not a date"],
  [["search", "x", "--limit", "0"], "--limit 0"],
  [["search", "x", "--limit", "1001"], "--limit 1001: not a number from 1 to 1000"],
  [["search", "x", "--agent", "codx"], "did you mean codex?"],
  [["search", "x", "--since", "2026-02-31"], "--since 2026-02-31: not a date"],
  [["search", "x", "--since", "2026-02-31T10:00"], "not a date"],
  [[], "history needs an action: search, show, stats, reindex, forget"],
  [["find", "x"], "unknown action find"],
  [["show", "missing"], "no session missing"],
  [["show"], "needs one REF"],
])("history %j is a usage error", async (args, message) => {
  const { stderr, exitCode } = await history(...args);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});

test("history reindex leaves an index that another process is updating", async () => {
  await history("stats");
  const database = new Database(join(place.home, ".local", "share", "diligent", "history.db"));
  database.run("INSERT INTO writer VALUES (?, '', ?)", [process.pid, Date.now() + 60_000]);
  const { stderr, exitCode } = await history("reindex");
  expect(stderr).toContain("another diligent is updating the index");
  expect(exitCode).toBe(2);
  database.run("DELETE FROM writer");
  database.close();
  expect((await history("reindex")).stdout).toContain("Sessions: 2");
});

test("-C is where the paths of history search and import start", async () => {
  const [parent, name] = [dirname(place.project), basename(place.project)];
  const run = (...args: string[]) =>
    runDiligent(place, ["-C", place.project, ...args], { cwd: parent, environment: { TZ: "UTC" } });
  expect((await run("history", "search", "needle", "--project", ".")).stdout).toContain(OWN);
  place.write("sessions/any.jsonl", "");
  expect((await run("import", "pi", "sessions")).exitCode).not.toBe(2);
  expect((await run("import", "pi", name)).exitCode).toBe(2);
});

test("an index that is turned off is removed, and sources limit it", async () => {
  await history("stats");
  const database = join(place.home, ".local", "share", "diligent", "history.db");
  expect(existsSync(database)).toBe(true);
  place.configure({ history: { index: false } });
  expect(await history("search", "needle")).toMatchObject({ exitCode: 2 });
  expect(existsSync(database)).toBe(false);
  place.configure({ history: { sources: [] } });
  expect((await history("stats")).stdout).toContain("Sessions: 1 (diligent 1)");
});

test("the file of a project cannot turn the index on", async () => {
  place.configure({ history: { index: false } });
  place.write("diligent.jsonc", { history: { index: true } });
  expect((await history("search", "needle")).exitCode).toBe(2);
});

test("two programs that index at the same time leave one complete index", async () => {
  for (let count = 0; count < 60; count++) {
    const texts = [`number ${count}`, ...Array(60).fill("some words in a row ".repeat(50))];
    writeSession(place, {
      id: `202601020000${10 + count}-aaaaaa`,
      modified: "2026-01-02T12:00:00.000Z",
      texts,
    });
  }
  const running = [0, 1, 2].map(() => startDiligent(place, ["history", "stats", "--json"]));
  const ended = await Promise.all(running.map(({ ended: end }) => end));
  expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  const { stdout, stderr } = await history("stats", "--json");
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({ agents: { codex: 1, diligent: 61 } });
});

test("a database of opencode that another program has locked is reported, and the rest is found", async () => {
  const { path, database } = writeOpencode(place);
  database.run("PRAGMA journal_mode = DELETE");
  database.run("BEGIN EXCLUSIVE");
  const { stdout, stderr, exitCode } = await history("search", "needle");
  expect(stdout).toContain("where is the Needle?");
  expect(stderr).toContain(`warning: ${path} cannot be read`);
  expect(exitCode).toBe(1);
  database.close();
});

test("sessions find answers the same with the index as without it, also after a session has changed", async () => {
  const find = async () => (await runDiligent(place, ["sessions", "find", "eedl", "--json"])).stdout;
  const before = await find();
  expect(JSON.parse(before)).toMatchObject([{ id: OWN }]);
  await history("stats");
  expect(await find()).toBe(before);
  const other = "20260103000000-cccccc";
  writeSession(place, { id: other, modified: "2026-01-03T12:00:00.000Z", texts: ["a needle, too", "yes"] });
  expect(JSON.parse(await find())).toMatchObject([{ id: other }, { id: OWN }]);
});
