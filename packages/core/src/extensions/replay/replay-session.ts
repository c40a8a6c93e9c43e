import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sessionRecordPath } from "../../infrastructure/diligent-dir.ts";
import { temporaryDirectory } from "../../infrastructure/runtime.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import { readSessionFile, type SessionFile } from "../../session/read-file.ts";
import { EventHashes } from "./event-hash.ts";
import { parseSessionRecord, RecordError, type RecordedOpening } from "./record-line.ts";
import { type OpeningReplay, replayOpening } from "./replayed-session.ts";
import type { ReplayDifference } from "./replayer.ts";

/** How the replay of a session ended. */
export interface SessionReplay {
  sessionId: string;
  /** The sub-agent's name, for the session of one. */
  agent?: string | undefined;
  /** How often the session was opened; each opening is replayed by itself. */
  openings: number;
  events: number;
  /** The hash of all events. */
  hash: string;
  /** The first difference; undefined if everything was equal. */
  difference?: ReplayDifference | undefined;
  /** Why the record ends before the session does, a clause. */
  incomplete?: string | undefined;
}

/**
 * Replays a session and those of its sub-agents from their records, without a provider, tools, a user or a network.
 * @param path of the session's file, absolute.
 * @returns the session first. Later ones are those of its sub-agents, in the order in which they were started.
 * @throws RecordError if there is no record, or if it is damaged.
 */
export async function replaySession(path: string): Promise<SessionReplay[]> {
  const { entries } = readSessionFile(path);
  const children = entries.flatMap((entry) => (entry.type === "task_link" ? [entry.sessionId] : []));
  const own = await replayRecord(path);
  const replays: SessionReplay[] = [own];
  for (const child of new Set(children))
    replays.push(...(await replaySession(join(path, "..", `${child}.jsonl`))));
  return replays;
}

async function replayRecord(path: string): Promise<SessionReplay> {
  const record = sessionRecordPath(path);
  const openings = parseSessionRecord(readRecord(record), record);
  const [first] = openings;
  const hashes = new EventHashes();
  const replay: SessionReplay = {
    sessionId: first?.opening.sessionId ?? "",
    agent: first?.opening.origin?.agent,
    openings: openings.length,
    events: 0,
    hash: "",
    incomplete: findEnd(openings),
  };
  for (const opening of openings) {
    const { events, hash, difference } = await replayInPlace(opening, path);
    replay.events += events;
    hashes.add(hash);
    replay.hash = openings.length === 1 ? hash : hashes.digest();
    if (difference) return { ...replay, difference };
  }
  return replay;
}

function readRecord(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    throw new RecordError(
      'there is no record of this session; only sessions started with "record": true have one',
    );
  }
}

/** Why the record ends early, if it does. */
function findEnd(openings: readonly RecordedOpening[]): string | undefined {
  const line = openings.at(-1)?.lines.at(-1)?.line;
  if (line?.t === "end") return undefined;
  return line?.t === "stop" ? line.why : "the program was killed, or the session is still open";
}

async function replayInPlace(recorded: RecordedOpening, path: string): Promise<OpeningReplay> {
  const directory = mkdtempSync(join(temporaryDirectory(), "diligent-replay-"));
  try {
    return await replayOpening(recorded, { directory, file: copyBeginning(recorded, path, directory) });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The session as it was at an opening: files of sessions only grow. */
function copyBeginning(
  { opening: { sessionBytes, sessionId }, number }: RecordedOpening,
  path: string,
  directory: string,
): SessionFile | undefined {
  if (sessionBytes === 0) return undefined;
  const bytes = readFileSync(path);
  if (bytes.length < sessionBytes)
    throw new RecordError(
      `line ${number} of the record begins after ${sessionBytes} bytes of ${path}, which has ${bytes.length}`,
    );
  const copy = join(directory, `${sessionId}.jsonl`);
  writeFileSync(copy, bytes.subarray(0, sessionBytes), { mode: 0o600 });
  return readSessionFile(copy);
}
