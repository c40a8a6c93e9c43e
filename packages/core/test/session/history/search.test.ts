import { expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Redactor } from "../../../src/agent/types.ts";
import { FOREIGN_AGENTS } from "../../../src/session/history/foreign/types.ts";
import { ProjectRecall } from "../../../src/session/history/project-recall.ts";
import { type HistoryPaths, historyPaths } from "../../../src/session/history/search/database.ts";
import { SessionHistory } from "../../../src/session/history/search/history.ts";
import { parseQuery } from "../../../src/session/history/search/words.ts";
import {
  writeClaudeCode,
  writeCodex,
  writeGemini,
  writeOpencode,
  writePi,
} from "../../support/foreign-fixtures.ts";
import { writeOwnSession } from "../../support/own-sessions.ts";
import { makeTempDir } from "../../support/temp-dir.ts";

interface Stage {
  home: string;
  project: string;
  paths: HistoryPaths;
  history: SessionHistory;
  update(redactor?: Redactor): ReturnType<SessionHistory["update"]>;
  /** The references and texts that a search finds. */
  find(query: string, filters?: object): string[];
}

function createStage(): Stage {
  const top = makeTempDir();
  const [home, project] = [join(top, "home"), join(top, "project")];
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(home);
  const environment = { HOME: home };
  const paths = historyPaths(environment);
  if (!paths) throw new Error("there is a home");
  const history = new SessionHistory(paths);
  return {
    home,
    project,
    paths,
    history,
    update: (redactor) => history.update({ environment, root: project, sources: FOREIGN_AGENTS, redactor }),
    find: (query, filters = {}) =>
      (history.search({ query, ...filters }) ?? []).map(({ ref, role, text }) => `${ref} ${role}: ${text}`),
  };
}

const OWN = "20260601100000-abcdef";

function writeAll(stage: Stage): void {
  writeOwnSession(stage.project, OWN, ["The parser is naïve", "日本語の文章を探す", "nothing else"]);
  for (const write of [writeClaudeCode, writeCodex, writePi, writeGemini]) write(stage);
  writeOpencode(stage).database.close();
}

test("words, phrases and beginnings are found in the sessions of all agents, the newest first", async () => {
  const stage = createStage();
  writeAll(stage);
  expect(await stage.update()).toMatchObject({ isOwn: true, added: 6, problems: [] });
  expect(stage.find("naive")).toEqual([`${OWN} user: The parser is naïve`]);
  expect(stage.find('"quote is missing"').map((line) => line.split(":")[0])).toContain("codex");
  expect(stage.find('"missing quote"')).toEqual([]);
  expect(stage.find("pars*", { limit: 1 })).toEqual([`${OWN} user: The parser is naïve`]);
  expect(stage.find("文章")).toEqual([`${OWN} user: 日本語の文章を探す`]);
  for (const agent of FOREIGN_AGENTS) expect(stage.find("screenshot", { agent })).toHaveLength(1);
  expect(stage.find("abandoned OR NOT")).toEqual([]);
  stage.history.close();
});

test("a search is narrowed by agent, project, tool, file and day", async () => {
  const stage = createStage();
  writeAll(stage);
  await stage.update();
  expect(stage.find("parser", { agent: "diligent" })).toEqual([`${OWN} user: The parser is naïve`]);
  expect(stage.find("parser", { project: "/elsewhere" })).toEqual([]);
  expect(stage.find("parser", { project: stage.project }).length).toBeGreaterThan(10);
  expect(stage.find("", { tool: "BASH", agent: "claude-code" })).toEqual([
    "claude-code:0b6f3d62-6f0d-4f5c-9c8e-1f3a5b7c9d11 tool_result: 1 fail",
    "claude-code:0b6f3d62-6f0d-4f5c-9c8e-1f3a5b7c9d11 tool_call: bun test parser",
  ]);
  for (const agent of FOREIGN_AGENTS)
    expect(stage.find("", { agent, file: "src/parser.ts" })).not.toEqual([]);
  expect(stage.find("", { file: "arser.ts" })).toEqual([]);
  expect(stage.find("parser", { sinceMs: Date.UTC(2026, 5, 1) })).toHaveLength(1);
  expect(stage.history.search({ query: "" })).toBeUndefined();
  expect(stage.history.search({ query: "+++", agent: "pi" })).toBeUndefined();
  stage.history.close();
});

test("a session with many matches hides no other one, and copies of a match are left out", async () => {
  const stage = createStage();
  writeOwnSession(stage.project, "20260501100000-bbbbbb", ["the needle"], "2026-05-01");
  for (const id of [OWN, "20260601100000-cccccc"])
    writeOwnSession(stage.project, id, Array(50).fill("a needle"));
  await stage.update();
  const query = { query: "needle", limit: 3 };
  expect(stage.history.searchSessions(query)?.map(({ text }) => text)).toEqual(["a needle", "the needle"]);
  const found = stage.history.search({ query: "needle" }) ?? [];
  expect(new Set(found.map(({ date }) => date)).size).toBe(20);
  expect(stage.history.search({ query: "needle", limit: 1_000 })).toHaveLength(51);
  expect(stage.history.count(query)).toBe(101);
  const { ref = "" } = found[0] ?? {};
  expect(stage.history.search(query, (match) => match.ref !== ref)).toHaveLength(3);
  stage.history.close();
});

test("a day alone narrows a search", async () => {
  const stage = createStage();
  writeAll(stage);
  await stage.update();
  expect(stage.find("", { sinceMs: Date.UTC(2026, 5, 1) })).toEqual([
    `${OWN} user: nothing else`,
    `${OWN} user: 日本語の文章を探す`,
    `${OWN} user: The parser is naïve`,
  ]);
  stage.history.close();
});

test.each([
  ["a relative path", { file_path: "src/deep/q.ts" }],
  ["an absolute path", { file_path: "PROJECT/src/deep/q.ts" }],
  ["a path outside its directory", { path: "../project/./src/deep/q.ts" }],
  ["a patch in a list", { command: ["apply_patch", "*** Begin Patch\n*** Add File: src/deep/q.ts\n+x"] }],
  ["the target of a move", { input: "*** Begin Patch\n*** Update File: a.ts\n*** Move to: src/deep/q.ts" }],
])("a call with %s is found by any form of the path, with and without the index", async (_, input) => {
  const stage = createStage();
  const content = [
    {
      type: "tool_call",
      id: "c",
      name: "write",
      input: JSON.parse(JSON.stringify(input).replace("PROJECT", stage.project)),
    },
  ];
  const message = { role: "assistant", content, model: "m", usage: {}, stopReason: "tool_use", timestamp: 1 };
  const entry = {
    type: "message",
    id: "000000aa",
    parentId: null,
    timestamp: "2026-06-01T10:00:00.000Z",
    message,
  };
  appendFileSync(writeOwnSession(stage.project, OWN, ["first"]), `${JSON.stringify(entry)}\n`);
  await stage.update();
  for (const file of ["src/deep/q.ts", "./q.ts", join(stage.project, "src", "deep", "q.ts")])
    expect(stage.find("", { file })).toHaveLength(1);
  const directory = join(stage.project, "src", "other");
  expect(stage.find("", { file: "../deep/q.ts", directory })).toHaveLength(1);
  expect(stage.find("", { file: "../q.ts", directory })).toEqual([]);
  for (const index of [true, false]) {
    const recall = new ProjectRecall({
      environment: { HOME: stage.home },
      root: stage.project,
      sessionId: "current",
      settings: { index },
    });
    for (const path of ["deep/q.ts", join(stage.project, "src", "deep", "q.ts")])
      expect((await recall.search({ path })).matches).toHaveLength(1);
    recall.close();
  }
  stage.history.close();
});

test("an update reads only what has changed, and removes what is gone", async () => {
  const stage = createStage();
  const path = writeOwnSession(stage.project, OWN, ["first words"]);
  const codex = writeCodex(stage);
  expect(await stage.update()).toMatchObject({ added: 2, removed: 0 });
  expect(await stage.update()).toMatchObject({ added: 0, removed: 0 });
  appendFileSync(
    path,
    readFileSync(path, "utf8").split("\n")[1]?.replace("first", "second").replace("00000000", "00000009") ??
      "",
  );
  expect(await stage.update()).toMatchObject({ added: 1, removed: 0 });
  expect(stage.find("second")).toHaveLength(1);
  expect(stage.find("first")).toHaveLength(1);
  rmSync(codex);
  expect(await stage.update()).toMatchObject({ added: 0, removed: 1 });
  expect(stage.find("quote")).toEqual([]);
  expect(stage.history.stats()).toMatchObject({ sessions: 1, items: 2, agents: { diligent: 1 } });
  stage.history.close();
});

test.each([
  ["overwritten", (path: string) => writeFileSync(path, "this is not a database ".repeat(1_000))],
  ["cut off", (path: string) => truncateSync(path, 5_000)],
  ["empty", (path: string) => truncateSync(path, 0)],
  [
    "damaged in the middle",
    (path: string) => {
      const bytes = readFileSync(path);
      bytes.fill(0xff, 4_096, bytes.length);
      writeFileSync(path, bytes);
    },
  ],
])("an index that is %s is built again", async (_, damage) => {
  const stage = createStage();
  writeAll(stage);
  await stage.update();
  stage.history.close();
  damage(stage.paths.database);
  expect(await stage.update()).toMatchObject({ added: 6 });
  expect(stage.find("naive")).toHaveLength(1);
  stage.history.close();
});

test("a forgotten session stays out of an index that is built again, and its file stays", async () => {
  const stage = createStage();
  const path = writeCodex(stage);
  const { size } = statSync(path);
  await stage.update();
  const [match] = stage.history.search({ query: "quote" }) ?? [];
  stage.history.forget(match?.ref ?? "");
  expect(stage.find("quote")).toEqual([]);
  stage.history.remove();
  await stage.update();
  appendFileSync(path, "\n");
  await stage.update();
  expect(stage.find("quote")).toEqual([]);
  expect(statSync(path).size).toBe(size + 1);
  stage.history.close();
});

test("entries from a clock in the future do not come before all others", async () => {
  const stage = createStage();
  const path = writeOwnSession(stage.project, "20260101000000-aaaaaa", ["from the future"], "2199-01-01");
  Bun.spawnSync(["touch", "-d", "2020-01-01", path]);
  writeOwnSession(stage.project, OWN, ["from the present"]);
  await stage.update();
  expect(stage.find("from")).toEqual([
    `${OWN} user: from the present`,
    "20260101000000-aaaaaa user: from the future",
  ]);
  stage.history.close();
});

test("known secrets are masked before they reach the index, and its files are private", async () => {
  const stage = createStage();
  writeOwnSession(stage.project, OWN, ["the key is sk-secret-value"]);
  const mask = (text: string) => text.replaceAll("sk-secret-value", "[masked]");
  await stage.update({ redact: (value) => JSON.parse(mask(JSON.stringify(value))), redactPart: mask });
  expect(stage.find("key")).toEqual([`${OWN} user: the key is [masked]`]);
  stage.history.close();
  expect(readFileSync(stage.paths.database).includes("sk-secret-value")).toBe(false);
  for (const path of Object.values(stage.paths))
    if (path !== stage.paths.forgotten) expect(statSync(path).mode & 0o077).toBe(0);
});

test("an update that is stopped keeps what it has, and the next one adds the rest", async () => {
  const stage = createStage();
  for (let count = 0; count < 40; count++)
    writeOwnSession(
      stage.project,
      `202606011000${10 + count}-abcdef`,
      Array(200).fill(`word${count} ${"text ".repeat(200)}`),
    );
  const stop = new AbortController();
  const options = {
    environment: { HOME: stage.home },
    root: stage.project,
    sources: [],
    signal: stop.signal,
  };
  const stopped = stage.history.update({ ...options, onProgress: () => stop.abort() });
  await expect(stopped).rejects.toThrow("stopped");
  const { sessions } = stage.history.stats();
  expect(sessions).toBeGreaterThan(0);
  expect(sessions).toBeLessThan(40);
  expect(await stage.update()).toMatchObject({ isOwn: true, added: 40 - sessions });
  stage.history.close();
});

test("a file is known to lack a word only if the index has all of it as it is now", async () => {
  const stage = createStage();
  const containing = writeOwnSession(stage.project, OWN, ["Needles and 100%_hay"]);
  const without = writeOwnSession(stage.project, "20260601100000-bbbbbb", ["only 100 hay"]);
  const long = writeOwnSession(stage.project, "20260601100000-cccccc", ["x".repeat(70_000)]);
  const changed = writeOwnSession(stage.project, "20260601100000-dddddd", ["nothing"]);
  await stage.update();
  appendFileSync(changed, "\n");
  const files = [containing, without, long, changed, join(stage.project, "missing")];
  expect(stage.history.findWithout(files, ["NEEDLE", "hay"])).toEqual(new Set([without]));
  expect(stage.history.findWithout(files, ["100%_"])).toEqual(new Set([without]));
  expect(stage.history.findWithout(files, ["größe"])).toEqual(new Set());
  stage.history.close();
});

test("queries are data: operators, quotes and stars of FTS5 are taken literally", () => {
  expect(parseQuery('a AND "b c" d* col:x')?.match).toBe(
    'text : "a" AND text : "AND" AND text : "b c" AND text : "d" * AND text : "col:x"',
  );
  expect(parseQuery('"open')?.match).toBe('text : "open"');
  expect(parseQuery("* ) -- ''")).toBeUndefined();
});
