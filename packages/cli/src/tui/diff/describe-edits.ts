import { resolve } from "node:path";
import { compareTexts, isInside } from "@diligent/core/interactive";
import type { SessionEntry } from "@diligent/core/run";
import type { Block } from "../blocks.ts";
import { formatCount } from "../text/format-amount.ts";
import { collectEdits, type EditStep, type FileEdits } from "./file-edits.ts";

/** The edits of a conversation as they are shown. */
export interface DescribedEdits {
  /** One for each file. */
  blocks: readonly Block[];
  /** How much it is, and what it leaves out. */
  summary: string;
}

type Change = Extract<Block, { type: "change" }>;

/**
 * What a conversation has edited, as far as its messages tell.
 * @param path its entries from the root on, what was summarised included.
 * @param outside only files that are not in this directory.
 */
export async function describeEdits(
  path: readonly SessionEntry[],
  cwd: string,
  { outside }: { outside?: string | undefined } = {},
): Promise<DescribedEdits> {
  const messages = path.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const all = collectEdits(messages, cwd);
  const files =
    outside === undefined ? all : all.filter((file) => !isInside(resolve(cwd, file.path), outside));
  const blocks: Change[] = [];
  for (const file of files) blocks.push(await toChange(file));
  if (files.length === 0) return { blocks, summary: `This session has edited no file. ${UNKNOWN}` };
  const sum = (key: "added" | "removed") => blocks.reduce((total, block) => total + block[key], 0);
  const overwritten = files.flatMap(({ path, isBeginningUnknown }) => (isBeginningUnknown ? [path] : []));
  return {
    blocks,
    summary: [
      `${formatCount(files.length, "file")} edited, +${sum("added")} −${sum("removed")}.`,
      UNKNOWN,
      ...(overwritten.length === 0
        ? []
        : [`What was in ${overwritten.join(", ")} before is not known either: it was overwritten.`]),
    ].join(" "),
  };
}

const UNKNOWN = "What commands, other programs or you yourself changed is not known here.";

async function toChange({ path, steps }: FileEdits): Promise<Change> {
  const change: Change = { type: "change", path, diff: "", added: 0, removed: 0 };
  for (const step of steps) {
    const { diff, added, removed } = await compareTexts(path, step.before, step.after);
    change.diff += shiftHunks(diff, step);
    change.added += added;
    change.removed += removed;
  }
  return change;
}

/** The hunks alone, numbered as in the file; without the notes on line ends that are only those of a part. */
function shiftHunks(diff: string, { firstLine }: EditStep): string {
  const lines = diff.split("\n").slice(2);
  return lines
    .filter((line) => !line.startsWith("\\ No newline"))
    .map((line) =>
      line.replace(
        /^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@/,
        (_, old: string, oldLength = "", current: string, length = "") =>
          `@@ -${Number(old) + firstLine - 1}${oldLength} +${Number(current) + firstLine - 1}${length} @@`,
      ),
    )
    .join("\n");
}
