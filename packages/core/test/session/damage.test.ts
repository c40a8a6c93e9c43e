import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { buildSessionContext } from "../../src/session/context-builder.ts";
import { summarizeSession } from "../../src/session/list.ts";
import { SessionLog } from "../../src/session/log.ts";
import { readSessionFile, SessionFileError } from "../../src/session/read-file.ts";
import { pathTo } from "../../src/session/tree.ts";
import { DeferredWriter } from "../../src/session/writer.ts";
import { damagedSession, talk } from "../support/damaged-session.ts";
import { assistant, text, user } from "../support/messages.ts";
import { chain, entry, header, toLines, writeSessionFile } from "../support/session-files.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function idsOf(values: readonly { id: string }[]): string[] {
  return values.map(({ id }) => id);
}

/** Opens a file, adds a message, and returns what a reader finds then. */
function openAndAppend(path: string) {
  const file = readSessionFile(path);
  const before = readFileSync(path);
  const writer = new DeferredWriter("/nowhere", "/work", { file });
  const log = new SessionLog(writer, file.entries);
  const added = log.append((place) => ({ type: "message", ...place, message: user("added") }));
  writer.close();
  const after = readFileSync(path);
  expect(after.subarray(0, before.length).equals(before)).toBe(true);
  return { file, added, after: readSessionFile(path), conversation: log.path() };
}

test("torn at every single byte it opens with all that came before, and the next entry stands on its own line", () => {
  const entries = talk(5);
  const lines = [header(), ...entries].map((value) => Buffer.from(`${JSON.stringify(value)}\n`));
  const whole = Buffer.concat(lines);
  const ends = lines.map((_, index) => Buffer.concat(lines.slice(0, index + 1)).length - 1);
  const path = join(makeTempDir(), "20260225103000-abcdef.jsonl");
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length));
    const kept = entries.slice(0, Math.max(0, ends.filter((end) => end <= length).length - 1));
    if (length < (ends[0] ?? 0)) {
      expect(() => readSessionFile(path)).toThrow(SessionFileError);
      continue;
    }
    const { file, added, after } = openAndAppend(path);
    expect(file.entries).toEqual(kept);
    expect(file.skippedLines).toBe(ends.some((end) => end === length || end + 1 === length) ? 0 : 1);
    expect(after.entries).toEqual([...kept, added]);
    expect(idsOf(pathTo(after.entries))).toEqual(idsOf([...kept, added]));
    expect(summarizeSession(path)?.messageCount).toBe(kept.length + 1);
  }
});

test("whatever happened to its lines, all that is whole is there, listed, and part of the conversation", () => {
  const path = join(makeTempDir(), "20260225103000-abcdef.jsonl");
  fc.assert(
    fc.property(damagedSession, ({ bytes, wholeIds }) => {
      writeFileSync(path, bytes);
      if (wholeIds.length === 0 && !bytes.includes('"cwd"')) return;
      const { file, added, after, conversation } = openAndAppend(path);
      const messages = file.entries.filter(({ type }) => type === "message");
      expect(idsOf(messages)).toEqual(wholeIds);
      expect(idsOf(conversation)).toEqual([...wholeIds, added.id]);
      expect(idsOf(after.entries)).toEqual([...idsOf(file.entries), added.id]);
      expect(summarizeSession(path)?.messageCount).toBe(wholeIds.length + 1);
    }),
    { numRuns: 400 },
  );
});

test("bytes that were overwritten cost the lines they are in, and nothing else", () => {
  const path = join(makeTempDir(), "20260225103000-abcdef.jsonl");
  const entries = talk(8);
  const whole = Buffer.from(toLines([header(), ...entries]));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        // Another version is another matter.
        if (!bytes.includes('"version":2,')) return;
        writeFileSync(path, bytes);
        const untouched = entries.filter((each) =>
          bytes.includes(Buffer.from(`\n${JSON.stringify(each)}\n`)),
        );
        const found = idsOf(openAndAppend(path).file.entries);
        expect(idsOf(untouched).filter((id) => !found.includes(id))).toEqual([]);
      },
    ),
    { numRuns: 400 },
  );
});

test("lines in any order are one conversation", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(chain(8), { minLength: 8 }), (entries) => {
      const file = readSessionFile(
        writeSessionFile(toLines([...entries.slice(0, 2), header(), ...entries.slice(2)])),
      );
      const log = new SessionLog(undefined, file.entries);
      expect(idsOf(log.path())).toEqual(idsOf(chain(8)));
    }),
    { numRuns: 100 },
  );
});

describe("a damaged line", () => {
  const [first, second, third, fourth] = chain(4);

  test("in the middle does not cut off what came before it", () => {
    const path = writeSessionFile(`${toLines([header(), first, second])}{"type":"mess\n${toLines([fourth])}`);
    const { entries, skippedLines } = readSessionFile(path);
    expect([idsOf(pathTo(entries)), skippedLines]).toEqual([idsOf(chain(4)).toSpliced(2, 1), 1]);
  });

  test("that another one was written onto costs only itself", () => {
    const torn = JSON.stringify(second).slice(0, -30);
    const path = writeSessionFile(`${toLines([header(), first])}${torn}${toLines([third, fourth])}`);
    expect(idsOf(readSessionFile(path).entries)).toEqual(
      [first, third, fourth].map((each) => each?.id ?? ""),
    );
  });

  test("three whole ones on one line are three entries", () => {
    const line = [first, second, third].map((each) => JSON.stringify(each)).join("");
    const { entries, skippedLines } = readSessionFile(writeSessionFile(`${toLines([header()])}${line}`));
    expect([idsOf(entries), skippedLines]).toEqual([idsOf(chain(3)), 1]);
  });

  test("that was written again, whole, is no loss and not complained about", () => {
    const line = JSON.stringify(second);
    const path = writeSessionFile(`${toLines([header(), first])}${line.slice(0, 60)}\n${line}\n${line}\n`);
    const { entries, skippedLines } = readSessionFile(path);
    expect([idsOf(entries), skippedLines]).toEqual([idsOf(chain(2)), 0]);
    expect(summarizeSession(path)?.messageCount).toBe(2);
  });
});

describe("a tree that is none", () => {
  test("an entry that is its own ancestor ends the conversation there", () => {
    const entries = [entry("1", "2"), entry("2", "1"), entry("3", "2")];
    expect(idsOf(pathTo(entries, "3"))).toEqual(["1", "2", "3"]);
  });

  test("of two entries with one id, the one before its child is its parent", () => {
    const entries = [entry("1", null), entry("2", "1"), entry("1", "2"), entry("4", "1")];
    expect(pathTo(entries).map((each) => entries.indexOf(each as (typeof entries)[number]))).toEqual([
      0, 1, 2, 3,
    ]);
  });
});

test("a session written by two processes at once holds both conversations whole", () => {
  const path = writeSessionFile(toLines([header(), ...chain(2)]));
  const told: string[] = [];
  const logs = ["a", "b"].map((name) => {
    const file = readSessionFile(path);
    const writer = new DeferredWriter("/nowhere", "/work", { file, onForeignWrite: () => told.push(name) });
    return new SessionLog(writer, file.entries);
  });
  for (let round = 0; round < 20; round++) {
    for (const [index, log] of logs.entries())
      log.append((place) => ({ type: "message", ...place, message: assistant([text(`${index} ${round}`)]) }));
  }
  const { entries, skippedLines } = readSessionFile(path);
  expect([entries.length, skippedLines, told]).toEqual([42, 0, ["b", "a"]]);
  for (const log of logs) {
    expect(pathTo(entries, log.leafId)).toEqual([...log.path()]);
    expect(buildSessionContext(entries, log.leafId).messages).toHaveLength(22);
  }
});

test("a name that somebody else gave the session is not taken for a conversation", () => {
  const path = writeSessionFile(toLines([header(), ...chain(2)]));
  const told: string[] = [];
  const writer = new DeferredWriter("/nowhere", "/work", {
    file: readSessionFile(path),
    onForeignWrite: () => told.push("told"),
  });
  appendFileSync(path, '{"type":"session_info","id":"5","parentId":null,"timestamp":"t","name":"n"}\n');
  writer.write(entry("00000007", null));
  appendFileSync(path, toLines([entry("00000008", null)]));
  writer.write(entry("00000009", null));
  writer.close();
  expect(told).toEqual(["told"]);
});
