import type { MoveControl, UndoOptions } from "@diligent/core/harness";
import { describeInterruptedRestore, type MoveProgress, type Restoration } from "@diligent/core/light";
import { quoteForShell } from "../text/quote-for-shell.ts";
import { toSingleLine } from "../text/terminal-text.ts";

/** The operation on files. `jump` goes to another point of the conversation. */
export type FileMove = "undo" | "redo" | "jump";

const DOING: Readonly<Record<FileMove, string>> = {
  undo: "Undoing",
  redo: "Redoing",
  jump: "Restoring files",
};

/** The message for a user who quits while files are being restored. */
export function describeExit(move: FileMove): string {
  return describeInterruptedRestore(move, { undo: "diligent undo", redo: "diligent undo --redo" });
}

/** The progress of the operation, on one line without a line feed. */
export function describeMoveProgress(move: FileMove, progress: MoveProgress | undefined): string {
  if (progress === undefined) return `${DOING[move]}…`;
  const { doing, done, total } = progress;
  const amount = `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
  switch (doing) {
    case "look":
      return `${DOING[move]}: scanning files, ${amount}…`;
    case "restore":
      return `${DOING[move]}: ${amount} done…`;
    case "rollBack":
      return `Stopping: reverting, ${amount}…`;
  }
}

// More paths would push everything else off the screen. `diligent undo --json` lists all of them.
const MAX_LINES = 20;
// Enough for the model; it can look up the rest.
const MAX_LISTED_PATHS = 50;
const MAX_PATH_COLUMNS = 300;

// During a longer call, somebody else may have worked in the project.
const LONG_CALL_MS = 10_000;

const SIGNS = { added: "+", removed: "−", changed: "±" } as const;

const HEADS: Readonly<Record<Restoration["move"], readonly [done: string, planned: string, told: string]>> = {
  undo: [
    "Undid the changes of the last prompt that changed files",
    "Would undo the changes of the last prompt that changed files",
    "undone",
  ],
  redo: ["Restored what was undone", "Would restore what was undone", "restored"],
  jump: [
    "Restored the files to that point",
    "Would restore the files to that point",
    "restored to an earlier state of",
  ],
};

/** The result for the user: a heading, then a line per path. Safe for a terminal. */
export function describeRestoration(
  restoration: Restoration,
  cutOffCommand = "diligent undo --cut-off",
): string[] {
  const { restored, conflicts, notKept, failures, isDryRun } = restoration;
  const head = headOf(restoration);
  const path = (text: string) => toSingleLine(text.toWellFormed(), MAX_PATH_COLUMNS);
  const left = isDryRun ? "would be left unchanged" : "left unchanged";
  return [
    describeHead(restoration, head),
    ...cut(
      gatherRepositories(restored).map((each) => `  ${SIGNS[each.how]} ${path(each.path)}${each.extent}`),
    ),
    ...cut(conflicts.map((each) => `  ! ${path(each.path)}: ${each.reason}; ${left}`)),
    ...cut(describeDisplacedRefs(restoration).map((line) => `    ${path(line)}`)),
    ...cut(failures.map((each) => `  ! ${path(each.path)}: failed: ${each.reason}`)),
    ...cut(notKept.map((each) => `  ? ${path(each.path)}: also changed, but ${whyNotRestored(each)}`)),
    ...describeLeft(restoration, cutOffCommand, path),
    ...(failures.length > 0 ? [describeRetry(restoration)] : []),
    ...describeUnlike(restoration, path),
    ...describeDoubts(restoration, path),
  ];
}

/** If somebody else has changed a ref since, only the hash still leads to its old value. */
function describeDisplacedRefs({ displacedRefs = [] }: Restoration): string[] {
  return displacedRefs.map(({ gitDirectory, ref, hash }) => {
    const git = gitDirectory === ".git" ? "git" : `git --git-dir=${quoteForShell(gitDirectory)}`;
    const [way, effect] =
      ref === "refs/stash"
        ? [`stash apply ${hash}`, "applies it"]
        : [`branch NAME ${hash}`, "keeps it as a branch"];
    const name = ref.replace(/^refs\/(?:heads\/)?/, "");
    return `${name} was at ${hash} before: ${git} ${way} ${effect}`;
  });
}

/** Files that were restored, but not in every respect. */
function describeUnlike({ unlike = [] }: Restoration, path: ShowPath): string[] {
  const list = (wanted: (each: (typeof unlike)[number]) => boolean | undefined) =>
    cut(unlike.filter(wanted).map((each) => `  ? ${path(each.path)}`));
  const strange = list(({ isOwnerLost }) => isOwnerLost);
  const alone = list(({ isLinkLost }) => isLinkLost);
  return [
    ...(strange.length > 0 ? ["Restored, but with a different owner or group:", ...strange] : []),
    ...(alone.length > 0
      ? ["Restored, but no longer linked to their other names (hard links):", ...alone]
      : []),
  ];
}

function headOf({ move, isDryRun, wasCutOff }: Restoration): string {
  const [done, planned] = HEADS[move];
  if (wasCutOff && move === "undo")
    return isDryRun ? "Would undo the interrupted turn" : "Undid the interrupted turn";
  return isDryRun ? planned : done;
}

function describeHead(restoration: Restoration, head: string): string {
  const { restored, conflicts, failures, notKept, isStopped } = restoration;
  if (isStopped) {
    const isWhole = conflicts.length + failures.length + notKept.length === 0;
    return isWhole
      ? "Stopped. All files are back as they were."
      : "Stopped. All files are back as they were, except these:";
  }
  return restored.length === 0 ? describeNone(restoration, head) : `${head}: ${count(restored.length)}.`;
}

function describeRetry({ move, isStopped }: Restoration): string {
  const isUndone = isStopped ? move === "redo" : move !== "redo";
  return `Failed files are tried again with the next ${isUndone ? "undo" : "redo"}.`;
}

/** An undo without any effect does not use up its prompt. */
function describeNone(restoration: Restoration, head: string): string {
  const { move, conflicts, leftCutOff, notKept, isDryRun, wasCutOff } = restoration;
  if (leftCutOff && conflicts.length + notKept.length === 0) return "Nothing was undone.";
  // An interrupted turn counts as handled.
  const isOver = move !== "undo" || isDryRun || wasCutOff;
  return isOver
    ? `${head}: no files.`
    : "Nothing of the last prompt was undone; undo again for the prompt before it.";
}

/** The notice for the model's next prompt; undefined if nothing changed. */
export function describeForModel({ move, restored, isDryRun }: Restoration): string | undefined {
  if (isDryRun || restored.length === 0) return undefined;
  const gathered = gatherRepositories(restored);
  const paths = gathered
    .slice(0, MAX_LISTED_PATHS)
    .map(({ path, extent }) => `${toSingleLine(path.toWellFormed(), MAX_PATH_COLUMNS)}${extent}`);
  const more = gathered.length > paths.length ? [`… and ${gathered.length - paths.length} more`] : [];
  return [
    `[The user has ${HEADS[move][2]} your changes in these files. They are no longer as you left them: read a file again before you edit it, and do not repeat the change unless asked to.]`,
    ...paths,
    ...more,
  ].join("\n");
}

/** For a project in which no session has changes to undo or redo. */
export function describeNoSession(move: "undo" | "redo"): string {
  return `No session of this project has anything to ${move}.`;
}

/** Why there was nothing to do. @param reason why nothing is recorded, if that is the case. */
export function describeNothing(move: "undo" | "redo", reason: string | undefined): string {
  const what = move === "undo" ? "Nothing to undo in this session" : "Nothing to redo";
  return reason === undefined ? `${what}.` : `${what}: ${reason}.`;
}

type ShowPath = (text: string) => string;

/** The unknown changes of an interrupted turn. */
function describeLeft({ leftCutOff = [] }: Restoration, command: string, path: ShowPath): string[] {
  if (leftCutOff.length === 0) return [];
  return [
    `A turn was interrupted, so its changes are unknown; it was skipped. Changed since it started: ${count(leftCutOff.length)}.`,
    ...cut(leftCutOff.map((each) => `  ? ${path(each)}`)),
    `${command} undoes what changed before its last recorded activity.`,
  ];
}

/** Doubts about whether this was the agent's work, and all of it. */
function describeDoubts(restoration: Restoration, path: ShowPath): string[] {
  const {
    wasCutOff,
    isDryRun,
    isRootChanged,
    isTooLarge,
    callMs = 0,
    unseen = [],
    touched = [],
    damagedLines = 0,
  } = restoration;
  const seconds = Math.round(callMs / 1000);
  return [
    ...(wasCutOff
      ? ["That turn was interrupted: everything that changed while it ran counts as its work."]
      : []),
    ...(callMs > (isDryRun ? 0 : LONG_CALL_MS)
      ? [`A command ran for ${seconds} s: everything that changed meanwhile counts as its work.`]
      : []),
    ...(isRootChanged ? ["The permissions of the project directory also changed; they are kept."] : []),
    ...(isTooLarge ? ["It changed more than can be recorded: some changes are unknown."] : []),
    ...(touched.length > 0 ? [`Also changed, but never undone: ${touched.map(path).join(", ")}.`] : []),
    ...(unseen.length > 0
      ? [`Not scanned: ${unseen.map(path).join(", ")}; changes deep inside are kept.`]
      : []),
    ...(damagedLines > 0
      ? ["The log of this session's changes is damaged: changes missing from it are kept."]
      : []),
  ];
}

function whyNotRestored({ isCache, isControl }: Restoration["notKept"][number]): string {
  if (isControl) return "it is never restored: it belongs to diligent or is a pipe or socket";
  return isCache
    ? "cache directories are not recorded; its tool recreates it"
    : "it was not recorded: too large or not readable";
}

/**
 * Nobody reads the files of a repository one by one, so each `.git` gets one line, at the position of its
 * first file.
 */
function gatherRepositories(restored: Restoration["restored"]) {
  const counts = new Map<string, number>();
  for (const { path } of restored) counts.set(groupOf(path), (counts.get(groupOf(path)) ?? 0) + 1);
  const shown = new Set<string>();
  return restored.flatMap((each) => {
    const group = groupOf(each.path);
    if (shown.has(group)) return [];
    shown.add(group);
    const isGathered = group !== each.path || (counts.get(group) ?? 0) > 1;
    if (!isGathered) return [{ ...each, extent: "" }];
    return [
      {
        how: "changed" as const,
        path: group,
        extent: ` (${count(counts.get(group) ?? 0)} of the repository)`,
      },
    ];
  });
}

/**
 * The path itself, or the `.git` directory that contains it. A git directory outside the project keeps its
 * own path.
 */
function groupOf(path: string): string {
  const names = path.split("/");
  const at = names.findIndex((name) => name === ".git" || name.endsWith(".git"));
  return at < 0 ? path : names.slice(0, at + 1).join("/");
}

function cut(lines: readonly string[]): string[] {
  if (lines.length <= MAX_LINES) return [...lines];
  return [...lines.slice(0, MAX_LINES), `  … and ${lines.length - MAX_LINES} more`];
}

function count(paths: number): string {
  return paths === 1 ? "one path" : `${paths} paths`;
}

/** The changes of an interrupted turn that would be undone, and the next step. */
export interface CutOffPlan {
  /**
   * `ask`: files would be changed, and which ones is a guess, so the user must confirm. `continue`: no file
   * would be changed, and the turn counts as handled once that is recorded. `stop`: there is nothing to do,
   * or the user stopped it.
   */
  next: "ask" | "continue" | "stop";
  /** Undefined if there is no such turn. */
  planned: Restoration | undefined;
}

/** @throws the errors of `undo`. */
export async function planCutOff(
  undo: (options: UndoOptions) => Promise<Restoration | undefined>,
  control: MoveControl,
): Promise<CutOffPlan> {
  const planned = await undo({ ...control, isCutOff: true, isDryRun: true });
  if (!planned || planned.isStopped) return { next: "stop", planned };
  // Stopping it at the very end also counts.
  if (control.signal?.aborted) return { next: "stop", planned: toStopped(planned) };
  return { next: planned.restored.length > 0 ? "ask" : "continue", planned };
}

function toStopped({ move }: Restoration): Restoration {
  const nothing = { restored: [], conflicts: [], notKept: [], failures: [] };
  return { move, ...nothing, wasCutOff: false, isStopped: true, isDryRun: false };
}
