import {
  type CheckpointOptions,
  findProjectRoot,
  homeDirectory,
  listCheckpointSessions,
  now,
  openCheckpoints,
  type Restoration,
  resolvePaths,
} from "@diligent/core/light";
import { listSessions, listUnreadableSessions, type SessionInfo, tellSession } from "@diligent/core/sessions";
import type { CliIo } from "../cli-io.ts";
import { describeError } from "../describe-error.ts";
import { EXIT_FAILURE, EXIT_SUCCESS } from "../exit-codes.ts";
import { findSession } from "../find-session.ts";
import { toJsonText } from "../output/json-line.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import {
  describeForModel,
  describeNoSession,
  describeNothing,
  describeRestoration,
} from "../undo/describe-restoration.ts";
import { UsageError } from "../usage-error.ts";
import { writeFailure, writeLine } from "../write-line.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";

const PROGRESS_MS = 2_000;

interface Wishes {
  move: "undo" | "redo";
  isDryRun: boolean;
  isCutOff: boolean;
  isJson: boolean;
}

/**
 * Takes back what the last prompt of a session has changed, from outside of it. Exit code 1: something could not be restored.
 * @throws UsageError when there is no such session, or another process works in it.
 */
export async function runUndo(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches, values } = readSubcommandArguments("undo", rest);
  if (words.length > 0)
    throw new UsageError(`undo takes no words: ${words.join(" ")}; a session is named with --session`);
  const root = findProjectRoot(resolveDirectory(directory, io.cwd), homeDirectory(io.environment));
  const wishes: Wishes = {
    move: switches.has("redo") ? "redo" : "undo",
    isDryRun: switches.has("dry-run"),
    isCutOff: switches.has("cut-off"),
    isJson: switches.has("json"),
  };
  const sessions = await listSessions(resolvePaths(root).sessions);
  const reference = values.get("session");
  const sessionId =
    reference === undefined
      ? await findLastChanged(wishes.move, { root, environment: io.environment })
      : findSession(sessions, reference, () => listUnreadableSessions(resolvePaths(root).sessions)).id;
  const options = { root, environment: io.environment, sessionId: sessionId ?? "" };
  const restoration = sessionId === undefined ? undefined : await move(wishes, options, io);
  if (restoration)
    tell(
      restoration,
      sessions.find(({ id }) => id === sessionId),
      io,
    );
  return report(restoration, wishes, { io, sessionId });
}

/** The session that has changed something last. */
async function findLastChanged(
  move: Wishes["move"],
  place: Pick<CheckpointOptions, "root" | "environment">,
): Promise<string | undefined> {
  const changed = await listCheckpointSessions(place);
  return changed.find(({ canUndo, canRedo }) => (move === "undo" ? canUndo : canRedo))?.sessionId;
}

async function move(
  { move, isDryRun, isCutOff }: Wishes,
  options: CheckpointOptions,
  io: CliIo,
): Promise<Restoration | undefined> {
  const checkpoints = await openCheckpoints(options);
  const onProgress = createProgress(io);
  try {
    return await checkpoints[move]({ isDryRun, isCutOff, onProgress });
  } catch (error) {
    throw new UsageError(`${move}: ${describeError(error)}`);
  } finally {
    checkpoints.close();
  }
}

/** Says on stderr how far it is, where it takes a while; each time on a line of its own, since stderr may be a file. */
function createProgress(io: CliIo): (done: number, total: number) => void {
  let saidAt = now();
  return (done, total) => {
    if (now() - saidAt < PROGRESS_MS) return;
    saidAt = now();
    writeFailure(io.stderr, `${done} of ${total} files`);
  };
}

/** With the next prompt of the session, if its file is still there. */
function tell(restoration: Restoration, session: SessionInfo | undefined, io: CliIo): void {
  const told = describeForModel(restoration);
  if (told === undefined || !session) return;
  try {
    tellSession(session, told);
  } catch (error) {
    const reason = describeError(error);
    writeFailure(io.stderr, `the session could not be told of it: ${reason}`);
  }
}

function report(
  restoration: Restoration | undefined,
  { move, isJson }: Wishes,
  { io, sessionId }: { io: CliIo; sessionId: string | undefined },
): number {
  if (isJson) {
    io.stdout.write(toJsonText(restoration ? { sessionId, ...toWellFormed(restoration) } : null));
  } else if (restoration) {
    for (const line of describeRestoration(restoration)) writeLine(io.stdout, line);
  } else {
    writeLine(
      io.stdout,
      sessionId === undefined ? describeNoSession(move) : describeNothing(move, undefined),
    );
  }
  const isWhole = !restoration || countLeft(restoration) === 0;
  return isWhole ? EXIT_SUCCESS : EXIT_FAILURE;
}

function countLeft({ failures, conflicts, leftCutOff = [] }: Restoration): number {
  return failures.length + conflicts.length + leftCutOff.length;
}

/** Names that are no text would be no JSON text either. */
function toWellFormed(restoration: Restoration): Restoration {
  const mend = <T extends { path: string }>(each: T): T => ({ ...each, path: each.path.toWellFormed() });
  return {
    ...restoration,
    restored: restoration.restored.map(mend),
    conflicts: restoration.conflicts.map(mend),
    notKept: restoration.notKept.map(mend),
    failures: restoration.failures.map(mend),
    ...(restoration.leftCutOff && { leftCutOff: restoration.leftCutOff.map((path) => path.toWellFormed()) }),
    ...(restoration.unseen && { unseen: restoration.unseen.map((path) => path.toWellFormed()) }),
  };
}
