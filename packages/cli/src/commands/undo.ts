import {
  type CheckpointOptions,
  type Checkpoints,
  findProjectRoot,
  homeDirectory,
  listCheckpointSessions,
  openCheckpoints,
  type Restoration,
  resolvePaths,
} from "@diligent/core/light";
import { listSessions, listUnreadableSessions, type SessionInfo, tellSession } from "@diligent/core/sessions";
import type { CliIo, SignalName } from "../cli-io.ts";
import { describeError } from "../describe-error.ts";
import { EXIT_FAILURE, EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../exit-codes.ts";
import { findSession } from "../find-session.ts";
import { toJsonText } from "../output/json-line.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import {
  describeForModel,
  describeNoSession,
  describeNothing,
  describeRestoration,
} from "../undo/describe-restoration.ts";
import { type CutOffPlan, planCutOff } from "../undo/plan-cut-off.ts";
import { UsageError } from "../usage-error.ts";
import { writeFailure, writeLine } from "../write-line.ts";
import { askYesNo } from "./ask-yes-no.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";
import { createUndoControl } from "./undo-control.ts";

interface Wishes {
  move: "undo" | "redo";
  isDryRun: boolean;
  isCutOff: boolean;
  isJson: boolean;
  /** Nobody is to be asked. */
  isAgreed: boolean;
}

interface Moved {
  restoration?: Restoration | undefined;
  stoppedBy?: SignalName | undefined;
  /** Nothing was done, since the person did not want it. */
  isDeclined?: boolean;
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
    isAgreed: switches.has("yes"),
  };
  const sessions = await listSessions(resolvePaths(root).sessions);
  const reference = values.get("session");
  const sessionId =
    reference === undefined
      ? await findLastChanged(wishes.move, { root, environment: io.environment })
      : findSession(sessions, reference, () => listUnreadableSessions(resolvePaths(root).sessions)).id;
  const options = { root, environment: io.environment, sessionId: sessionId ?? "" };
  const moved: Moved = sessionId === undefined ? {} : await move(wishes, options, io);
  if (moved.isDeclined) return EXIT_SUCCESS;
  const { restoration, stoppedBy } = moved;
  if (restoration)
    tell(
      restoration,
      sessions.find(({ id }) => id === sessionId),
      io,
    );
  const code = report(restoration, wishes, { io, sessionId });
  return restoration?.isStopped && stoppedBy ? SIGNAL_EXIT_CODES[stoppedBy] : code;
}

/** The session that has changed something last. */
async function findLastChanged(
  move: Wishes["move"],
  place: Pick<CheckpointOptions, "root" | "environment">,
): Promise<string | undefined> {
  const changed = await listCheckpointSessions(place);
  return changed.find(({ canUndo, canRedo }) => (move === "undo" ? canUndo : canRedo))?.sessionId;
}

/** @throws UsageError when it cannot be done now, or there is a question that nobody can answer. */
async function move(wishes: Wishes, options: CheckpointOptions, io: CliIo): Promise<Moved> {
  const checkpoints = await openCheckpoints(options);
  const { move, isDryRun, isCutOff } = wishes;
  try {
    const mustAsk = isCutOff && !isDryRun && !wishes.isAgreed;
    const settled = mustAsk ? await askFirst(checkpoints, wishes, io) : undefined;
    return settled ?? (await moveStoppably(checkpoints, { move, isDryRun, isCutOff }, io));
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${move}: ${describeError(error)}`);
  } finally {
    checkpoints.close();
  }
}

async function moveStoppably(
  checkpoints: Checkpoints,
  { move, isDryRun, isCutOff }: Pick<Wishes, "move" | "isDryRun" | "isCutOff">,
  io: CliIo,
): Promise<Moved> {
  const control = createUndoControl(move, io, isDryRun);
  const { signal, onProgress } = control;
  try {
    const restoration = await checkpoints[move]({ isDryRun, isCutOff, signal, onProgress });
    return { restoration, stoppedBy: control.stoppedBy };
  } finally {
    control.end();
  }
}

/** What came of it already; undefined where it is to be carried out. */
async function askFirst(checkpoints: Checkpoints, wishes: Wishes, io: CliIo): Promise<Moved | undefined> {
  const { next, planned, stoppedBy } = await plan(checkpoints, wishes, io);
  if (next === "goOn") return undefined;
  if (next === "stop" || !planned) return { restoration: planned, stoppedBy };
  const output = wishes.isJson ? io.stderr : io.stdout;
  if (io.stdin.isTerminal) for (const line of describeRestoration(planned)) writeLine(output, line);
  return (await askYesNo("Take that back?", io)) ? undefined : { isDeclined: true };
}

async function plan(
  checkpoints: Checkpoints,
  { move }: Wishes,
  io: CliIo,
): Promise<CutOffPlan & Pick<Moved, "stoppedBy">> {
  const control = createUndoControl(move, io, true);
  try {
    const { signal, onProgress } = control;
    const found = await planCutOff((options) => checkpoints[move](options), { signal, onProgress });
    return { ...found, stoppedBy: control.stoppedBy };
  } finally {
    control.end();
  }
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
    ...(restoration.unlike && { unlike: restoration.unlike.map(mend) }),
    ...(restoration.touched && { touched: restoration.touched.map((path) => path.toWellFormed()) }),
    ...(restoration.unseen && { unseen: restoration.unseen.map((path) => path.toWellFormed()) }),
  };
}
