import { chmodSync, lstatSync } from "node:fs";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import type { NetworkConnection } from "../../infrastructure/network/connection.ts";
import { formatHostAndPort } from "../../infrastructure/network/host-pattern.ts";
import { createUnifiedDiff } from "../../tools/edit/unified-diff.ts";
import { findApplicable, readFirstBytes, type TriedChange, type TriedChanges } from "./changes.ts";
import type { EntryState } from "./entry-state.ts";

/** What a dry run would do to the project, for people and for the model. */
export interface DescribedChanges {
  /** One line, such as `2 created, 1 changed, 1 deleted`. */
  summary: string;
  /** The same of what can be applied. */
  applicableSummary: string;
  /** One line for each path that is never applied. */
  refusals: readonly string[];
  /** One line for each path, then what is refused and which connections were wanted. */
  lines: readonly string[];
  /** Unified diffs of the text files; empty if there are none. */
  diff: string;
  /** How many changes can be applied. */
  applicable: number;
}

// A dialog or a result has no room for more.
const MAX_LINES = 200;
const MAX_DIFFS = 100;
const MAX_DIFF_BYTES = 256 * 1024;
const MAX_HOSTS = 20;
const MAX_SHOWN_PATHS = 20;

/** @param root the project; paths in it are shown from there. */
export async function describeTriedChanges(
  { changes, changedMeanwhile }: TriedChanges,
  { root, connections }: { root: string; connections: readonly NetworkConnection[] },
): Promise<DescribedChanges> {
  const show = (path: string) => showPath(path, root);
  const shown = changes.filter((change) => !isGitObject(change, root));
  const objects = changes.length - shown.length;
  const lines = shown.slice(0, MAX_LINES).map((change) => describeChange(change, show));
  if (shown.length > MAX_LINES) lines.push(`… and ${shown.length - MAX_LINES} more`);
  if (objects > 0) lines.push(`  git: ${count(objects, "object")} in .git/objects`);
  const refused = changes.filter(({ refusal }) => refusal !== undefined);
  const outer = refused.filter(({ path }) => !refused.some((other) => path.startsWith(`${other.path}/`)));
  const refusals = outer
    .slice(0, MAX_SHOWN_PATHS)
    .map(({ path, after, refusal }) => `Never applied: ${show(path)}${suffix(after)}, because ${refusal}.`);
  if (outer.length > MAX_SHOWN_PATHS)
    refusals.push(`… and ${outer.length - MAX_SHOWN_PATHS} more are never applied.`);
  lines.push(...refusals);
  const hosts = [...new Set(connections.map(formatHostAndPort))];
  if (hosts.length > 0) {
    const more = hosts.length > MAX_HOSTS ? ` and ${hosts.length - MAX_HOSTS} more` : "";
    lines.push(`Connections wanted, none was made: ${hosts.slice(0, MAX_HOSTS).join(", ")}${more}`);
  }
  if (changedMeanwhile.length > 0)
    lines.push(
      `Changed by something else meanwhile: ${changedMeanwhile.slice(0, MAX_SHOWN_PATHS).map(show).join(", ")}`,
    );
  const applicable = findApplicable(changes);
  return {
    summary: summarize(changes),
    applicableSummary: summarize(applicable),
    refusals,
    lines,
    diff: await createDiffs(shown, show),
    applicable: applicable.length,
  };
}

function summarize(changes: readonly TriedChange[]): string {
  const created = changes.filter(({ before }) => before === undefined).length;
  const deleted = changes.filter(({ after }) => after === undefined).length;
  const modes = changes.filter(
    ({ before, after, hasNewContent }) => before && after && !hasNewContent,
  ).length;
  const changed = changes.length - created - deleted - modes;
  const parts = [
    ...(created ? [`${created} created`] : []),
    ...(changed ? [`${changed} changed`] : []),
    ...(deleted ? [`${deleted} deleted`] : []),
    ...(modes ? [`${modes} with another mode`] : []),
  ];
  return parts.join(", ") || "no changes";
}

/** Objects come by the hundred, and their names say nothing. */
function isGitObject({ path, after }: TriedChange, root: string): boolean {
  return path.startsWith(`${root}/.git/objects/`) && after !== undefined;
}

function describeChange(
  { path, before, after, below, hasNewContent }: TriedChange,
  show: (path: string) => string,
) {
  const name = show(path);
  if (after === undefined)
    return `D ${name}${suffix(before)}${below?.size ? ` (${count(below.size, "entry", "entries")} in it)` : ""}`;
  const target = after.kind === "link" ? ` -> ${JSON.stringify(after.target)}` : "";
  if (before === undefined)
    return `A ${name}${suffix(after)}${target}${describeSize(after)}${isSpecialMode(after) ? ` (mode ${octal(after)})` : ""}`;
  const mode =
    before.mode === after.mode || after.kind === "link" ? "" : ` (mode ${octal(before)} -> ${octal(after)})`;
  const links =
    before.names > 1 && after.kind === "file" && hasNewContent
      ? ` (${count(before.names - 1, "other hard link")} would keep the old content)`
      : "";
  return `M ${name}${suffix(after)}${target}${hasNewContent ? describeSize(after) : ""}${mode}${links}`;
}

function suffix(state: EntryState | undefined): string {
  return state?.kind === "directory" ? "/" : "";
}

const LARGE_BYTES = 1024 * 1024;

function describeSize({ kind, size }: EntryState): string {
  return kind === "file" && size >= LARGE_BYTES ? ` (${Math.round(size / 1024 / 1024)} MB)` : "";
}

/** Bits that a new file has only if a program asks for them. */
function isSpecialMode({ kind, mode }: EntryState): boolean {
  return (kind === "file" && (mode & 0o111) !== 0) || (mode & 0o7000) !== 0 || (mode & 0o600) !== 0o600;
}

function octal({ mode }: EntryState): string {
  return mode.toString(8).padStart(4, "0");
}

async function createDiffs(changes: readonly TriedChange[], show: (path: string) => string): Promise<string> {
  const texts: string[] = [];
  for (const change of changes) {
    if (texts.length === MAX_DIFFS) break;
    const diff = await createDiff(change, show);
    if (diff !== "") texts.push(diff);
  }
  return texts.join("");
}

async function createDiff(
  { path, source, before, after, hasNewContent }: TriedChange,
  show: (path: string) => string,
) {
  const isFile = (state: EntryState | undefined) => state === undefined || state.kind === "file";
  if (!hasNewContent || !isFile(before) || !isFile(after)) return "";
  if (source !== undefined) makeFileReadable(source);
  const [old, current] = [readText(before && path, before), readText(after && source, after)];
  if (old === undefined || current === undefined) return "";
  return (await createUnifiedDiff(show(path), old, current)).diff;
}

function makeFileReadable(path: string): void {
  const { mode } = lstatSync(toSystemPath(path));
  if ((mode & 0o400) === 0) chmodSync(toSystemPath(path), (mode & 0o7777) | 0o400);
}

/** Undefined for a file that is not text, too large, or not readable. */
function readText(path: string | undefined, state: EntryState | undefined): string | undefined {
  if (path === undefined || state === undefined) return "";
  if (state.size > MAX_DIFF_BYTES) return undefined;
  try {
    const content = readFirstBytes(path, MAX_DIFF_BYTES);
    return content.includes(0) ? undefined : new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}

function showPath(path: string, root: string): string {
  const name = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  // Names may contain anything.
  return /^[^\p{C}"\\]+$/u.test(name) ? name : JSON.stringify(name);
}

function count(number: number, one: string, more = `${one}s`): string {
  return `${number} ${number === 1 ? one : more}`;
}
