import { readSmallText } from "../../infrastructure/fs/read.ts";
import { type TreeEntry, toAbsolute } from "../entries.ts";
import type { DisplacedRef } from "../types.ts";
import type { EvaluateOptions, Evaluation } from "./evaluate-change.ts";

// A file of packed refs that is larger is not read.
const MAX_REFS_BYTES = 16 * 1024 * 1024;

const HASH = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const REF_FILE = /^(?:(.*)\/)?((?:refs\/.+)|HEAD)$/;
const PACKED_REFS = /^(?:(.*)\/)?packed-refs$/;

/**
 * The refs that stay as somebody else has set them since, for instance by `git init` and a commit, with what they were:
 * their objects are restored all the same, and only the hash leads to them.
 */
export function findDisplacedRefs(
  evaluated: readonly Evaluation[],
  options: EvaluateOptions,
): DisplacedRef[] {
  return [...findOwnFiles(evaluated, options), ...findPacked(evaluated, options)]
    .filter(({ gitDirectory }) => isGitDirectory(gitDirectory))
    .sort((left, right) => compareKeys(keyOf(left), keyOf(right)));
}

function keyOf({ gitDirectory, ref }: DisplacedRef): string {
  return `${gitDirectory}/${ref}`;
}

function compareKeys(left: string, right: string): number {
  return left < right ? -1 : 1;
}

/** Refs in files of their own. */
function findOwnFiles(evaluated: readonly Evaluation[], options: EvaluateOptions): DisplacedRef[] {
  return evaluated.flatMap(({ kind, change: { path, target } }) => {
    const [, gitDirectory = "", ref = ""] = REF_FILE.exec(path) ?? [];
    const hash = readKept(target, options).trim();
    if (kind !== "conflict" || ref === "" || !HASH.test(hash)) return [];
    const directory = toAbsolute(options.root, gitDirectory);
    const present = readHash(`${directory}/${ref}`) ?? readPacked(`${directory}/packed-refs`).get(ref);
    return present === hash ? [] : [{ gitDirectory, ref, hash }];
  });
}

/** Refs in `packed-refs` that the session has changed there: git looks for a file of their own first. */
function findPacked(evaluated: readonly Evaluation[], options: EvaluateOptions): DisplacedRef[] {
  const planned = new Set(evaluated.map(({ change }) => change.path));
  return evaluated.flatMap(({ kind, change: { path, target, expected } }) => {
    const [found, gitDirectory = ""] = PACKED_REFS.exec(path) ?? [];
    if (found === undefined || (kind !== "conflict" && kind !== "restore")) return [];
    const left = parsePacked(readKept(expected, options));
    const directory = toAbsolute(options.root, gitDirectory);
    const present = kind === "conflict" ? readPacked(`${directory}/packed-refs`) : undefined;
    return [...parsePacked(readKept(target, options))]
      .filter(([ref, hash]) => left.get(ref) !== hash && !planned.has(`${gitDirectory}/${ref}`))
      .filter(([ref, hash]) => {
        const own = readHash(`${directory}/${ref}`);
        return own === undefined ? present !== undefined && present.get(ref) !== hash : own !== hash;
      })
      .map(([ref, hash]) => ({ gitDirectory, ref, hash }));
  });
}

/** False for a file that is merely called like a ref. */
function isGitDirectory(path: string): boolean {
  return path.startsWith("/") || path.split("/").some((name) => name.endsWith(".git"));
}

function readKept(entry: TreeEntry | undefined, { store }: EvaluateOptions): string {
  const content = entry?.kind === "file" && entry.hash !== undefined ? store.read(entry.hash) : undefined;
  return content ? Buffer.from(content).toString("latin1") : "";
}

function readHash(path: string): string | undefined {
  const text = readSmallText(path, MAX_REFS_BYTES)?.trim();
  return text !== undefined && HASH.test(text) ? text : undefined;
}

function readPacked(path: string): Map<string, string> {
  return parsePacked(readSmallText(path, MAX_REFS_BYTES) ?? "");
}

function parsePacked(text: string): Map<string, string> {
  const lines = text.matchAll(/^([0-9a-f]{40}(?:[0-9a-f]{24})?) (\S+)$/gm);
  return new Map([...lines].map(([, hash = "", ref = ""]) => [ref, hash]));
}
