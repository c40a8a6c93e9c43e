import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { archiveSession, labelSessionEntry } from "../../src/session/edit-session.ts";
import { listSessions } from "../../src/session/list.ts";
import { readLabels } from "../../src/session/log.ts";
import { readSessionFile } from "../../src/session/read-file.ts";
import { user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";

async function savedSession() {
  const project = await createSessionProject({ text: "one" });
  const session = project.manager();
  await session.run(user("first")).result();
  const list = () => listSessions(project.paths.sessions);
  const [info] = await list();
  if (!info) throw new Error("Nothing was saved.");
  return { project, session, list, info };
}

test("a session that is archived says so in the list, with the date of its last change, until it is brought back", async () => {
  const { list, info, session } = await savedSession();
  session.close();
  const before = readFileSync(info.path, "utf8");
  archiveSession(info, true);
  expect(await list()).toEqual([{ ...info, archived: true }]);
  expect(readFileSync(info.path, "utf8")).toStartWith(before);
  archiveSession(info, false);
  expect(await list()).toEqual([info]);
});

test("a session that continues after it was archived is back", async () => {
  const { project, list, info, session } = await savedSession();
  archiveSession(info, true);
  project.play({ text: "two" });
  await session.run(user("second")).result();
  const [continued] = await list();
  expect([continued?.archived, continued?.messageCount]).toEqual([undefined, 4]);
});

test("an entry is labelled in the file, and only one that is there", async () => {
  const { info, session } = await savedSession();
  session.close();
  const id = session.leafId ?? "";
  labelSessionEntry(info, id, "good");
  expect(readLabels(readSessionFile(info.path).entries)).toEqual(new Map([[id, "good"]]));
  labelSessionEntry(info, id, " ");
  expect(readLabels(readSessionFile(info.path).entries)).toEqual(new Map());
  expect(() => labelSessionEntry(info, "ffffffff", "x")).toThrow("ffffffff");
});
