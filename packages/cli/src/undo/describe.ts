import type { MoveControl, UndoOptions } from "@diligent/core/harness";
import { describeInterruptedRestore, type MoveProgress, type Restoration } from "@diligent/core/light";
import { toSingleLine } from "../text/terminal-text.ts";

/** What is being done to files: `jump` goes to another place of the conversation. */
export type FileMove = "undo" | "redo" | "jump";

const DOING: Readonly<Record<FileMove, string>> = {
  undo: "Undoing",
  redo: "Redoing",
  jump: "Restoring files",
};

/** For whoever leaves while files are being moved. */
export function describeExit(move: FileMove): string {
  return describeInterruptedRestore(move, { undo: "diligent undo", redo: "diligent undo --redo" });
}

/** What is going on and how far it has come, on one line without an end. */
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

// More paths would push everything else out of sight. `diligent undo --json` lists all of them.
const MAX_LINES = 20;
// What a model needs to know; the rest it finds out when it looks.
const MAX_TOLD_PATHS = 50;
const MAX_PATH_COLUMNS = 300;

// Longer than that, somebody may have gone on working beside it.
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

/** What came of it, for a person: a head, then a line for each path. Safe for a terminal. */
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
    ...cut(failures.map((each) => `  ! ${path(each.path)}: failed: ${each.reason}`)),
    ...cut(notKept.map((each) => `  ? ${path(each.path)}:also changed, but ${whyNotKept(each)}`)),
    ...describeLeft(restoration, cutOffCommand, path),
    ...(failures.length > 0 ? [describeRetry(restoration)] : []),
    ...describeUnlike(restoration, path),
    ...describeDoubts(restoration, path),
  ];
}

/** What came back, but not in every way. */
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

/** Where an undo can do nothing, it is not used up. */
function describeNone(restoration: Restoration, head: string): string {
  const { move, conflicts, leftCutOff, notKept, isDryRun, wasCutOff } = restoration;
  if (leftCutOff && conflicts.length + notKept.length === 0) return "Nothing was undone.";
  // A turn that was cut off counts as answered.
  const isOver = move !== "undo" || isDryRun || wasCutOff;
  return isOver
    ? `${head}: no files.`
    : "Nothing of the last prompt was undone; undo again for the prompt before it.";
}

/** For the model, with its next prompt; undefined where nothing has become different. */
export function describeForModel({ move, restored, isDryRun }: Restoration): string | undefined {
  if (isDryRun || restored.length === 0) return undefined;
  const gathered = gatherRepositories(restored);
  const paths = gathered
    .slice(0, MAX_TOLD_PATHS)
    .map(({ path, extent }) => `${toSingleLine(path.toWellFormed(), MAX_PATH_COLUMNS)}${extent}`);
  const more = gathered.length > paths.length ? [`… and ${gathered.length - paths.length} more`] : [];
  return [
    `[The user has ${HEADS[move][2]} your changes in these files. They are no longer as you left them: read a file again before you edit it, and do not repeat the change unless asked to.]`,
    ...paths,
    ...more,
  ].join("\n");
}

/** For a project in which no session has anything to do. */
export function describeNoSession(move: "undo" | "redo"): string {
  return `No session of this project has anything to ${move}.`;
}

/** Why there was nothing to do. @param reason why nothing is kept, where that is so. */
export function describeNothing(move: "undo" | "redo", reason: string | undefined): string {
  const what = move === "undo" ? "Nothing to undo in this session" : "Nothing to redo";
  return reason === undefined ? `${what}.` : `${what}: ${reason}.`;
}

type ShowPath = (text: string) => string;

/** What a turn that was cut off may have done, which nobody knows. */
function describeLeft({ leftCutOff = [] }: Restoration, command: string, path: ShowPath): string[] {
  if (leftCutOff.length === 0) return [];
  return [
    `A turn was interrupted, so its changes are unknown; it was skipped. Changed since it started: ${count(leftCutOff.length)}.`,
    ...cut(leftCutOff.map((each) => `  ? ${path(each)}`)),
    `${command} undoes what changed before its last recorded activity.`,
  ];
}

/** How sure it is that this was the agent's work, and all of it. */
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

function whyNotKept({ isCache, isControl }: Restoration["notKept"][number]): string {
  if (isControl) return "it is never restored: it belongs to diligent or is a pipe or socket";
  return isCache
    ? "cache directories are not recorded; its tool recreates it"
    : "it was not recorded: too large or not readable";
}

/** Of a repository nobody reads the files one by one: a line for each `.git`, in the place of the first of them. */
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

/** A path itself, or the `.git` that it lies in; a git directory outside the project is called by its own path. */
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

/** What would be taken back of a turn that was cut off, and what is to be done now. */
export interface CutOffPlan {
  /**
   * `ask`: files would be changed, and which is a guess: nobody's are before they have seen them. `goOn`: no file would be
   * changed, and the turn counts as answered once that is noted down. `stop`: there is nothing to do, or it is not wanted.
   */
  next: "ask" | "goOn" | "stop";
  /** Undefined where there is no such turn. */
  planned: Restoration | undefined;
}

/** @throws what `undo` throws. */
export async function planCutOff(
  undo: (options: UndoOptions) => Promise<Restoration | undefined>,
  control: MoveControl,
): Promise<CutOffPlan> {
  const planned = await undo({ ...control, isCutOff: true, isDryRun: true });
  if (!planned || planned.isStopped) return { next: "stop", planned };
  // Stopped at the very end, it is stopped all the same.
  if (control.signal?.aborted) return { next: "stop", planned: toStopped(planned) };
  return { next: planned.restored.length > 0 ? "ask" : "goOn", planned };
}

function toStopped({ move }: Restoration): Restoration {
  const nothing = { restored: [], conflicts: [], notKept: [], failures: [] };
  return { move, ...nothing, wasCutOff: false, isStopped: true, isDryRun: false };
}
