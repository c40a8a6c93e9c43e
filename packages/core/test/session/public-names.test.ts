import { expect, test } from "bun:test";
import * as core from "../../src/index.ts";

test("the names of the session format, its files and its manager can be imported from the library", () => {
  const names: Record<string, string> = {
    SESSION_VERSION: "number",
    generateEntryId: "function",
    generateSessionId: "function",
    createSessionFile: "function",
    appendEntry: "function",
    readSessionFile: "function",
    listSessions: "function",
    DeferredWriter: "function",
    buildSessionContext: "function",
    SessionManager: "function",
    resolvePaths: "function",
    ensureDiligentDir: "function",
  };
  const exported = new Map<string, unknown>(Object.entries(core));
  expect<Record<string, string>>(
    Object.fromEntries(Object.keys(names).map((name) => [name, typeof exported.get(name)])),
  ).toEqual(names);
});
