import {
  type CheckpointOptions,
  type Checkpoints,
  findProjectRoot,
  findSession,
  homeDirectory,
  listCheckpointSessions,
  type MoveProgress,
  openCheckpoints,
  type Restoration,
  resolvePaths,
  type SecretRedactor,
} from "@diligent/core/light";
import {
  listSessions,
  listUnreadableSessions,
  notifySession,
  type SessionInfo,
} from "@diligent/core/sessions";
import { describeError, EXIT_FAILURE, EXIT_SUCCESS, SIGNAL_EXIT_CODES, UsageError } from "../errors.ts";
import { type CliIo, type SignalName, writeFailure, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { openSavedRedactor } from "../session/saved-secrets.ts";
import { SESSION_FORMATTER } from "../session/session-formatter.ts";
import { toJsonText } from "../text/format.ts";
import {
  type CutOffPlan,
  describeExit,
  describeForModel,
  describeNoSession,
  describeNothing,
  describeRestoration,
  planCutOff,
} from "../undo/describe.ts";
import { createProgressLines, ProgressLine } from "../undo/progress-lines.ts";
import { askYesNo, readSubcommandArguments } from "./arguments.ts";

interface Options {
  move: "undo" | "redo";
  isDryRun: boolean;
  isCutOff: boolean;
  isJson: boolean;
  /** Do not ask. */
  isAgreed: boolean;
}

interface Moved {
  restoration?: Restoration | undefined;
  stoppedBy?: SignalName | undefined;
  /** Nothing was done because the user declined. */
  isDeclined?: boolean;
}

/**
 * Undoes what the last prompt of a session changed, from outside the session. Exit code 1: something could not be
 * restored.
 * @throws UsageError if there is no such session, or another process is using it.
 */
export async function runUndo(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches, values } = readSubcommandArguments("undo", rest);
  if (words.length > 0)
    throw new UsageError(`undo takes no arguments: ${words.join(" ")}; to name a session: --session`);
  const root = findProjectRoot(resolveDirectory(directory, io.cwd), homeDirectory(io.environment));
  const choices: Options = {
    move: switches.has("redo") ? "redo" : "undo",
    isDryRun: switches.has("dry-run"),
    isCutOff: switches.has("cut-off"),
    isJson: switches.has("json"),
    isAgreed: switches.has("yes"),
  };
  const redactor = openSavedRedactor(root, io.environment);
  const sessions = await listSessions(resolvePaths(root).sessions, { redactor });
  const reference = values.get("session");
  const sessionId =
    reference === undefined
      ? await findLastChanged(choices.move, { root, environment: io.environment })
      : findSession(sessions, redactor.redact(reference), {
          listUnreadable: () => listUnreadableSessions(resolvePaths(root).sessions),
          formatter: SESSION_FORMATTER,
        }).id;
  const options = { root, environment: io.environment, sessionId: sessionId ?? "" };
  const moved: Moved = sessionId === undefined ? {} : await move(choices, options, io);
  if (moved.isDeclined) return EXIT_SUCCESS;
  const { restoration, stoppedBy } = moved;
  const session = sessions.find(({ id }) => id === sessionId);
  if (restoration && session) notify(restoration, { session, redactor }, io);
  const code = report(restoration, choices, { io, sessionId });
  return restoration?.isStopped && stoppedBy ? SIGNAL_EXIT_CODES[stoppedBy] : code;
}

/** The session that made the last change. */
async function findLastChanged(
  move: Options["move"],
  place: Pick<CheckpointOptions, "root" | "environment">,
): Promise<string | undefined> {
  const changed = await listCheckpointSessions(place);
  return changed.find(({ canUndo, canRedo }) => (move === "undo" ? canUndo : canRedo))?.sessionId;
}

/** @throws UsageError if it is impossible now, or requires confirmation without a terminal. */
async function move(choices: Options, options: CheckpointOptions, io: CliIo): Promise<Moved> {
  const checkpoints = await openCheckpoints(options);
  const { move, isDryRun, isCutOff } = choices;
  try {
    const mustAsk = isCutOff && !isDryRun && !choices.isAgreed;
    const settled = mustAsk ? await askFirst(checkpoints, choices, io) : undefined;
    return settled ?? (await moveStoppably(checkpoints, { move, isDryRun, isCutOff }, io));
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${move}: ${describeError(error)}`);
  } finally {
    checkpoints.close();
  }
}

async function moveStoppably(
  checkpoints: Checkpoints,
  { move, isDryRun, isCutOff }: Pick<Options, "move" | "isDryRun" | "isCutOff">,
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

/** The result so far; undefined if it still has to be applied. */
async function askFirst(checkpoints: Checkpoints, choices: Options, io: CliIo): Promise<Moved | undefined> {
  const { next, planned, stoppedBy } = await plan(checkpoints, choices, io);
  if (next === "continue") return undefined;
  if (next === "stop" || !planned) return { restoration: planned, stoppedBy };
  const output = choices.isJson ? io.stderr : io.stdout;
  if (io.stdin.isTerminal) for (const line of describeRestoration(planned)) writeLine(output, line);
  return (await askYesNo("Undo that?", io)) ? undefined : { isDeclined: true };
}

async function plan(
  checkpoints: Checkpoints,
  { move }: Options,
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

/** With the session's next prompt, if its file still exists. */
function notify(
  restoration: Restoration,
  { session, redactor }: { session: SessionInfo; redactor: SecretRedactor },
  io: CliIo,
): void {
  const message = describeForModel(restoration);
  if (message === undefined) return;
  try {
    notifySession(session, message, { redactor });
  } catch (error) {
    const reason = describeError(error);
    writeFailure(io.stderr, `the session could not be notified: ${reason}`);
  }
}

function report(
  restoration: Restoration | undefined,
  { move, isJson }: Options,
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

/** Invalid Unicode in names would make invalid JSON. */
function toWellFormed(restoration: Restoration): Restoration {
  const toWellFormed = <T extends { path: string }>(each: T): T => ({
    ...each,
    path: each.path.toWellFormed(),
  });
  return {
    ...restoration,
    restored: restoration.restored.map(toWellFormed),
    conflicts: restoration.conflicts.map(toWellFormed),
    notKept: restoration.notKept.map(toWellFormed),
    failures: restoration.failures.map(toWellFormed),
    ...(restoration.leftCutOff && { leftCutOff: restoration.leftCutOff.map((path) => path.toWellFormed()) }),
    ...(restoration.unlike && { unlike: restoration.unlike.map(toWellFormed) }),
    ...(restoration.touched && { touched: restoration.touched.map((path) => path.toWellFormed()) }),
    ...(restoration.unseen && { unseen: restoration.unseen.map((path) => path.toWellFormed()) }),
  };
}

/** Restores files from outside a session: progress on stderr, and how it is stopped. */
interface UndoControl {
  signal: AbortSignal;
  onProgress(progress: MoveProgress): void;
  /** The signal that stopped it. */
  readonly stoppedBy: SignalName | undefined;
  /** Signals end the program again from now on. */
  end(): void;
}

/**
 * A signal stops and reverts it; a second one ends the program immediately.
 * @param isDryRun true: nothing is moved, so nothing can be left half done.
 */
export function createUndoControl(move: "undo" | "redo", io: CliIo, isDryRun = false): UndoControl {
  const { stderr } = io;
  const line = stderr.isTerminal ? new ProgressLine(move, stderr) : undefined;
  const abort = new AbortController();
  let stoppedBy: SignalName | undefined;
  const unsubscribe = io.onSignal((signal) => {
    line?.clear();
    if (stoppedBy === undefined) {
      stoppedBy = signal;
      abort.abort();
      return;
    }
    if (!isDryRun) writeFailure(stderr, describeExit(move));
    void stderr.flush().then(() => io.exit(SIGNAL_EXIT_CODES[signal]));
  });
  return {
    signal: abort.signal,
    onProgress: line?.show ?? createProgressLines(move, (text) => writeFailure(stderr, text)),
    get stoppedBy() {
      return stoppedBy;
    },
    end() {
      unsubscribe();
      line?.clear();
    },
  };
}
