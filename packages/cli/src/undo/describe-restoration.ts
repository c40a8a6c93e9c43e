import type { Restoration } from "@diligent/core/light";
import { toSingleLine } from "../terminal-text.ts";

// What a person reads of a list; of the rest there is a count.
const MAX_LINES = 200;
// What a model needs to know; the rest it finds out when it looks.
const MAX_TOLD_PATHS = 50;
const MAX_PATH_COLUMNS = 300;

// Longer than that, somebody may have gone on working beside it.
const LONG_CALL_MS = 10_000;

const SIGNS = { added: "+", removed: "−", changed: "±" } as const;

const HEADS: Readonly<Record<Restoration["move"], readonly [done: string, planned: string, told: string]>> = {
  undo: [
    "Took back the changes of the last prompt that made any",
    "Would take back the changes of the last prompt that made any",
    "taken back",
  ],
  redo: ["Brought back what was taken back", "Would bring back what was taken back", "brought back again"],
  jump: [
    "Brought the files back to that place",
    "Would bring the files back to that place",
    "brought back to an earlier state",
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
  const left = isDryRun ? "would be left as it is" : "left as it is";
  return [
    describeHead(restoration, head),
    ...cut(restored.map((each) => `  ${SIGNS[each.how]} ${path(each.path)}`)),
    ...cut(conflicts.map((each) => `  ! ${path(each.path)}: ${each.reason}; ${left}`)),
    ...cut(failures.map((each) => `  ! ${path(each.path)}: failed: ${each.reason}`)),
    ...cut(notKept.map((each) => `  ? ${path(each.path)}: changed too, but ${whyNotKept(each)}`)),
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
    ...(strange.length > 0 ? ["Restored, but with another owner or group than before:", ...strange] : []),
    ...(alone.length > 0
      ? ["Restored, but no longer the same file as under its other names (hard links):", ...alone]
      : []),
  ];
}

function headOf({ move, isDryRun, wasCutOff }: Restoration): string {
  const [done, planned] = HEADS[move];
  if (wasCutOff && move === "undo")
    return isDryRun ? "Would take back what was cut off" : "Took back what was cut off";
  return isDryRun ? planned : done;
}

function describeHead(restoration: Restoration, head: string): string {
  const { restored, conflicts, failures, notKept, isStopped } = restoration;
  if (isStopped) {
    const isWhole = conflicts.length + failures.length + notKept.length === 0;
    return isWhole
      ? "Stopped: every file is as it was before."
      : "Stopped: every file is as it was before, but for these.";
  }
  return restored.length === 0 ? describeNone(restoration, head) : `${head}: ${count(restored.length)}.`;
}

function describeRetry({ move, isStopped }: Restoration): string {
  const isUndone = isStopped ? move === "redo" : move !== "redo";
  return `What failed is tried again with the next ${isUndone ? "undo" : "redo"}.`;
}

/** Where an undo can do nothing, it is not used up. */
function describeNone(restoration: Restoration, head: string): string {
  const { move, conflicts, leftCutOff, notKept, isDryRun, wasCutOff } = restoration;
  if (leftCutOff && conflicts.length + notKept.length === 0) return "Nothing was taken back.";
  // A turn that was cut off counts as answered.
  const isOver = move !== "undo" || isDryRun || wasCutOff;
  return isOver
    ? `${head}: no file.`
    : "Nothing of the last prompt was taken back; once more goes on to the one before.";
}

/** For the model, with its next prompt; undefined where nothing has become different. */
export function describeForModel({ move, restored, isDryRun }: Restoration): string | undefined {
  if (isDryRun || restored.length === 0) return undefined;
  const paths = restored
    .slice(0, MAX_TOLD_PATHS)
    .map(({ path }) => toSingleLine(path.toWellFormed(), MAX_PATH_COLUMNS));
  const more = restored.length > paths.length ? [`… and ${restored.length - paths.length} more`] : [];
  return [
    `[The user has ${HEADS[move][2]} changes of yours in these files. They are no longer as you left them: read one again before you edit it, and do not repeat the change unless you are asked to.]`,
    ...paths,
    ...more,
  ].join("\n");
}

/** For a project in which no session has anything to do. */
export function describeNoSession(move: "undo" | "redo"): string {
  return `No session of this project has anything to ${move === "undo" ? "take back" : "bring back"}.`;
}

/** Why there was nothing to do. @param reason why nothing is kept, where that is so. */
export function describeNothing(move: "undo" | "redo", reason: string | undefined): string {
  const what =
    move === "undo" ? "There is nothing to take back in this session" : "There is nothing to bring back";
  return reason === undefined ? `${what}.` : `${what}: ${reason}.`;
}

type ShowPath = (text: string) => string;

/** What a turn that was cut off may have done, which nobody knows. */
function describeLeft({ leftCutOff = [] }: Restoration, command: string, path: ShowPath): string[] {
  if (leftCutOff.length === 0) return [];
  return [
    `A turn was cut off, so what it did is not known, and it was passed over. Changed since it began: ${count(leftCutOff.length)}.`,
    ...cut(leftCutOff.map((each) => `  ? ${path(each)}`)),
    `${command} takes back what was changed before the last sign of life.`,
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
    ...(wasCutOff ? ["That turn was cut off: what changed while it went on counts as its work."] : []),
    ...(callMs > (isDryRun ? 0 : LONG_CALL_MS)
      ? [`A command ran for ${seconds} s: whatever anybody changed here meanwhile counts as its work.`]
      : []),
    ...(isRootChanged
      ? ["The permissions of the project's own directory were changed too, and stay so."]
      : []),
    ...(isTooLarge ? ["It had made more than can be kept: not everything of it is known."] : []),
    ...(touched.length > 0 ? [`Changed too, and never taken back: ${touched.map(path).join(", ")}.`] : []),
    ...(unseen.length > 0
      ? [`Not looked into: ${unseen.map(path).join(", ")}; what changed deep inside stays as it is.`]
      : []),
    ...(damagedLines > 0
      ? ["The log of what this session changed is damaged: what is not in it any more stays as it is."]
      : []),
  ];
}

function whyNotKept({ isCache, isControl }: Restoration["notKept"][number]): string {
  if (isControl) return "it is never touched, as all that belongs to git or diligent, and pipes";
  return isCache
    ? "such directories are not kept: its tool makes it again"
    : "it is not kept: too large, or it could not be read";
}

function cut(lines: readonly string[]): string[] {
  if (lines.length <= MAX_LINES) return [...lines];
  return [...lines.slice(0, MAX_LINES), `  … and ${lines.length - MAX_LINES} more`];
}

function count(paths: number): string {
  return paths === 1 ? "one path" : `${paths} paths`;
}
