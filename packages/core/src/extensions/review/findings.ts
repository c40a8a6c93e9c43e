import { isAbsolute, normalize, relative } from "node:path";
import { z } from "zod";
import type { Changes } from "./changes.ts";
import { type DiffFile, shownLines } from "./diff.ts";

/** How serious a finding is, the least serious first. */
export const SEVERITIES = ["note", "warning", "error"] as const;

/** One of `SEVERITIES`. */
export type Severity = (typeof SEVERITIES)[number];

/** One problem that a review has found. */
export interface Finding {
  /** Relative to the project's root, with `/`. */
  file: string;
  /** In the new version; in the old one for a removed file. */
  line: number;
  severity: Severity;
  message: string;
  /** False for a line that the diff does not show; left out otherwise. */
  inDiff?: false;
}

const MAX_FINDINGS = 100;
const MAX_MESSAGE_CHARS = 2_000;

const ANSWER = z.strictObject({
  findings: z
    .array(
      z.strictObject({
        file: z.string().describe("as in the diff, without a/ and b/"),
        line: z.int().min(1).describe("in the new version; in the old one for a removed file"),
        severity: z.enum(SEVERITIES),
        message: z.string().min(1).max(MAX_MESSAGE_CHARS),
      }),
    )
    .max(MAX_FINDINGS),
});

/** The JSON Schema of a reviewer's answer. */
export function findingsSchema(): object {
  return z.toJSONSchema(ANSWER);
}

/** The JSON of an answer without a code fence, or what is wrong with it, as a clause. */
export function readAnswer(answer: string): { answer: string } | { problem: string } {
  const [, inner = answer] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(answer) ?? [];
  try {
    const parsed = ANSWER.safeParse(JSON.parse(inner));
    return parsed.success ? { answer: inner } : { problem: z.prettifyError(parsed.error) };
  } catch {
    return { problem: "it is not JSON" };
  }
}

/** What of an answer is used. */
export interface CheckedFindings {
  /** The most serious first, then by file and line. */
  findings: Finding[];
  /** How many were dropped, because they name a file that does not exist. */
  dropped: number;
}

/**
 * Reads answers, and compares them with the changes. A finding about a line that is not in the diff is kept and marked;
 * if the line does not exist, it moves to the first line that the diff shows of its file. One about a file that does not
 * exist is dropped.
 * @param answers JSON that matches `findingsSchema`.
 */
export async function checkFindings(
  answers: readonly string[],
  changes: Pick<Changes, "files" | "countLines">,
  root: string,
): Promise<CheckedFindings> {
  const found = new Map<string, Finding>();
  let dropped = 0;
  for (const finding of answers.flatMap((answer) => ANSWER.parse(JSON.parse(answer)).findings)) {
    const checked = await checkFinding({ ...finding, file: toProjectPath(finding.file, root) }, changes);
    if (checked) found.set(JSON.stringify([checked.file, checked.line, checked.message]), checked);
    else dropped++;
  }
  return { findings: [...found.values()].sort(compareFindings), dropped };
}

/** True if one of the findings is at least as serious. */
export function hasSeverity(findings: readonly Finding[], least: Severity): boolean {
  return findings.some(({ severity }) => SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least));
}

async function checkFinding(
  finding: Finding,
  { files, countLines }: Pick<Changes, "files" | "countLines">,
): Promise<Finding | undefined> {
  const changed = findFile(finding.file, files);
  const file = changed?.path ?? finding.file;
  if (changed?.hunks.some((hunk) => isWithin(finding.line, shownLines(changed, hunk))))
    return { ...finding, file };
  const count = await countLines(file);
  if (count !== undefined && finding.line <= count) return { ...finding, file, inDiff: false };
  if (!changed) return undefined;
  const [first] = changed.hunks;
  const line = first ? Math.max(1, shownLines(changed, first)[0]) : 1;
  return { ...finding, file, line, inDiff: false };
}

function isWithin(line: number, [first, last]: readonly [number, number]): boolean {
  return line >= first && line <= last;
}

function findFile(name: string, files: readonly DiffFile[]): DiffFile | undefined {
  const named = (path: string) => files.find((file) => file.path === path);
  return named(name) ?? named(name.replace(/^[ab]\//, ""));
}

function toProjectPath(file: string, root: string): string {
  const written = file.trim().replaceAll("\\", "/");
  return normalize(isAbsolute(written) ? relative(root, written) : written);
}

function compareFindings(left: Finding, right: Finding): number {
  const bySeverity = SEVERITIES.indexOf(right.severity) - SEVERITIES.indexOf(left.severity);
  if (bySeverity !== 0) return bySeverity;
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line;
}
