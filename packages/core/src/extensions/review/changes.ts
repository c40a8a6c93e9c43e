import { join } from "node:path";
import { readCheckedFile } from "../../infrastructure/fs/read.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { pathKind } from "../../infrastructure/fs/stat.ts";
import { Git, GitError, type GitPlace } from "../../infrastructure/git/run-git.ts";
import { isSecretFile } from "../../infrastructure/paths/secret-files.ts";
import { DiffError, type DiffFile, parseUnifiedDiff } from "./diff.ts";

/** Which changes are reviewed. */
export type ReviewTarget =
  /** All that is not committed, with files that git does not track yet. */
  | { kind: "uncommitted" }
  | { kind: "staged" }
  /** As `git diff` takes it: two commits, or one that the working tree is compared with. */
  | { kind: "range"; range: string }
  /** A diff from elsewhere; `name` says where it is from. */
  | { kind: "diff"; text: string; name: string };

/** Where changes are collected. */
export interface ReviewPlace extends GitPlace {
  /** True for a file of the project (absolute path) that the model must not see. */
  isWithheld?: ((path: string) => boolean) | undefined;
  signal?: AbortSignal | undefined;
}

/** The changes to review. */
export interface Changes {
  /** What they are, in a few words. */
  title: string;
  files: readonly DiffFile[];
  /** What is left out, a sentence each. */
  notes: readonly string[];
  /** How many lines a file has in the reviewed version; undefined if there is no such text file. */
  countLines(path: string): Promise<number | undefined>;
}

/** The changes cannot be collected; the message is a clause for the user. */
export class ReviewError extends Error {}

/**
 * Collects changes without running any program that the repository names. Files that may hold secrets are left out.
 * @param paths only these files or directories; all without any.
 * @throws ReviewError
 */
export async function collectChanges(
  target: ReviewTarget,
  place: ReviewPlace,
  paths: readonly string[] = [],
): Promise<Changes> {
  try {
    const collected = await (target.kind === "diff"
      ? readGiven(target, place)
      : readFromGit(target, place, paths));
    return withoutSecrets(collected, place);
  } catch (error) {
    if (error instanceof GitError) throw new ReviewError(error.message);
    if (error instanceof DiffError) throw new ReviewError(`the diff cannot be read: ${error.message}`);
    throw error;
  }
}

function readGiven({ text, name }: Extract<ReviewTarget, { kind: "diff" }>, { root }: ReviewPlace): Changes {
  const files = parseUnifiedDiff(text);
  if (files.length === 0 && text.trim() !== "") throw new DiffError("it names no file");
  return {
    title: `the changes in ${name}`,
    files,
    notes: [],
    countLines: (path) => countTreeLines(root, path),
  };
}

// About as much as ten parts in the largest window.
const MAX_DIFF_MEGABYTES = 16;
const SAFE_DIFF = [
  ...["--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--find-renames", "--unified=3"],
  // Git runs a second git in a submodule, whose settings count there.
  ...["--ignore-submodules=dirty", "--submodule=short"],
  ...["--src-prefix=a/", "--dst-prefix=b/", "--output-indicator-new=+", "--output-indicator-old=-"],
  "--output-indicator-context= ",
];

async function readFromGit(
  target: Exclude<ReviewTarget, { kind: "diff" }>,
  place: ReviewPlace,
  paths: readonly string[],
): Promise<Changes> {
  const { signal, root } = place;
  const git = await Git.open(place);
  const words = await toWords(git, target);
  const only = ["--", ...paths.map((path) => `:(literal)${path}`)];
  const answer = await git.run(["diff", ...SAFE_DIFF, ...words, ...only], {
    signal,
    maxBytes: MAX_DIFF_MEGABYTES * 1024 * 1024,
  });
  if (answer.isCut)
    throw new ReviewError(
      `the diff is larger than ${MAX_DIFF_MEGABYTES} MB; name a smaller range, or paths after --`,
    );
  if (answer.exitCode !== 0) throw new ReviewError(answer.stderr.split("\n")[0] || "git diff failed");
  const files = parseUnifiedDiff(new TextDecoder().decode(answer.stdout));
  const untracked =
    target.kind === "uncommitted" ? await readUntracked(git, { place, only }) : { files: [], notes: [] };
  return {
    title: TITLES[target.kind](target),
    files: [...files, ...untracked.files],
    notes: untracked.notes,
    countLines: (path) => {
      const version = versionOf(target);
      return version === undefined ? countTreeLines(root, path) : countStoredLines(git, `${version}:${path}`);
    },
  };
}

type GitTarget = Exclude<ReviewTarget, { kind: "diff" }>;

const TITLES: Readonly<Record<GitTarget["kind"], (target: GitTarget) => string>> = {
  uncommitted: () => "the uncommitted changes",
  staged: () => "the staged changes",
  range: (target) => `the changes ${target.kind === "range" ? target.range : ""}`,
};

async function toWords(git: Git, target: GitTarget): Promise<string[]> {
  if (target.kind === "range") {
    if (/^-|[\0\n]/.test(target.range) || target.range.trim() === "")
      throw new ReviewError(`${JSON.stringify(target.range)} is not a range of commits`);
    return ["--end-of-options", target.range];
  }
  const head = await git.run(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]);
  // Before the first commit, everything is new.
  const before =
    head.exitCode === 0 ? "HEAD" : (await git.read(["hash-object", "-t", "tree", "/dev/null"])).trim();
  return target.kind === "staged" ? ["--cached", before] : [before];
}

/** What stands before the colon in the name of a file of the reviewed version; undefined for the working tree. */
function versionOf(target: GitTarget): string | undefined {
  if (target.kind === "staged") return "";
  if (target.kind === "uncommitted") return undefined;
  const [, after] = /\.{2,3}(.*)$/.exec(target.range) ?? [];
  return after === undefined ? undefined : after || "HEAD";
}

const MAX_UNTRACKED = 300;
const MAX_UNTRACKED_BYTES = 256 * 1024;

async function readUntracked(git: Git, { place, only }: { place: ReviewPlace; only: readonly string[] }) {
  const { root, signal } = place;
  const listed = await git.read(["ls-files", "--others", "--exclude-standard", "-z", ...only], { signal });
  const names = listed.split("\0").filter((name) => name !== "" && !name.endsWith("/"));
  const files: DiffFile[] = [];
  const skipped: string[] = [];
  for (const path of names.slice(0, MAX_UNTRACKED)) {
    // Its content must not even be read.
    const file = isHidden(path, place)
      ? { path, change: "added" as const, hunks: [] }
      : await readNewFile(root, path);
    if (file) files.push(file);
    else skipped.push(path);
  }
  const notes = skipped.map(
    (path) => `The new file ${path} is not reviewed: it is too large, or not a regular file.`,
  );
  const rest = names.length - MAX_UNTRACKED;
  if (rest > 0)
    notes.push(`${rest} more untracked files are not reviewed; add them to .gitignore, or to git.`);
  return { files, notes };
}

async function readNewFile(root: string, path: string): Promise<DiffFile | undefined> {
  const absolute = join(root, path);
  if (pathKind(absolute) !== "file") return undefined;
  const reading = await readCheckedFile(absolute, MAX_UNTRACKED_BYTES);
  if (reading.kind !== "file" || reading.file.size > MAX_UNTRACKED_BYTES) return undefined;
  const { content } = reading.file;
  if (content.includes(0)) return { path, change: "added", isBinary: true, hunks: [] };
  const text = new TextDecoder().decode(content);
  const lines = splitLines(text).map((line) => `+${line}`);
  if (text !== "" && !text.endsWith("\n")) lines.push("\\ No newline at end of file");
  const hunks = lines.length === 0 ? [] : [{ oldStart: 0, newStart: 1, heading: "", lines }];
  return { path, change: "added", hunks };
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function isHidden(path: string, { root, isWithheld }: ReviewPlace): boolean {
  return isSecretFile(path) || isWithheld?.(join(root, path)) === true;
}

function withoutSecrets(changes: Changes, place: ReviewPlace): Changes {
  const hidden = changes.files.filter(({ path, earlierPath = path }) =>
    [path, earlierPath].some((each) => isHidden(each, place)),
  );
  const notes = hidden.map(({ path }) => `${path} is not reviewed: the model may not read it.`);
  return {
    ...changes,
    files: changes.files.filter((file) => !hidden.includes(file)),
    notes: [...changes.notes, ...notes],
  };
}

const MAX_COUNTED_BYTES = 4 * 1024 * 1024;

async function countTreeLines(root: string, path: string): Promise<number | undefined> {
  const absolute = join(root, path);
  if (!isInside(absolute, root) || pathKind(absolute) !== "file") return undefined;
  const reading = await readCheckedFile(absolute, MAX_COUNTED_BYTES);
  return reading.kind === "file" ? countLines(reading.file.content) : undefined;
}

/** @param name of an object, such as `HEAD:src/a.ts`. */
async function countStoredLines(git: Git, name: string): Promise<number | undefined> {
  const answer = await git.run(["cat-file", "blob", "--end-of-options", name], {
    maxBytes: MAX_COUNTED_BYTES,
  });
  return answer.exitCode === 0 || answer.isCut ? countLines(answer.stdout) : undefined;
}

function countLines(content: Uint8Array): number {
  return splitLines(new TextDecoder().decode(content)).length;
}
