import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { monotonicMs } from "../../infrastructure/runtime.ts";
import { findCommitMessage, findFormatProblem } from "./commit-message.ts";
import type { PlacedRule } from "./find-rules.ts";
import { NEW_BRANCH } from "./known-commands.ts";
import { matchesCall } from "./match-command.ts";
import { addsDependency, MANIFEST } from "./new-dependencies.ts";
import { type GuardPlace, refusesPath, type TouchedPath } from "./path-guard.ts";
import type { SeenCall, SeenLine, ShellPlace } from "./shell/read-calls.ts";
import { isKnown } from "./shell/text-value.ts";
import type { CheckGuard, CommandPattern, Guard, PathGuard } from "./types.ts";
import { findPatchedPaths, findTouchedPaths, toAbsolutePath } from "./written-paths.ts";

/** What breaks a rule. */
export interface Violation {
  rule: PlacedRule;
  /** A clause that may follow the sentence, such as what the call does; empty if that is plain. */
  why: string;
}

/** The place in which commands are looked at. */
export interface CommandPlace extends ShellPlace {
  root: string;
  /** The current branch of the repository that contains a directory; undefined if it is unknown. */
  branchOf(directory: string): string | undefined;
}

/** A check that has to be fulfilled before a call of a command may run. */
export interface NeededCheck {
  rule: PlacedRule;
  guard: CheckGuard;
}

/** The first rule that a command line breaks, and the checks that it needs. */
export function findCommandViolation(
  line: string,
  seen: SeenLine,
  rules: readonly PlacedRule[],
  place: CommandPlace,
): { violation?: Violation; needed: NeededCheck[] } {
  const needed: NeededCheck[] = [];
  for (const rule of rules) {
    for (const guard of rule.guards) {
      const why = checkGuard(guard, rule, { line, seen, place });
      if (why !== undefined) return { violation: { rule, why }, needed: [] };
      if (guard.kind === "check" && needsCheck(guard, seen)) needed.push({ rule, guard });
    }
  }
  return { needed };
}

interface Checked {
  line: string;
  seen: SeenLine;
  place: CommandPlace;
}

/** Why a guard refuses a line, a clause; undefined if it does not. */
function checkGuard(guard: Guard, rule: PlacedRule, checked: Checked): string | undefined {
  const { seen, place } = checked;
  switch (guard.kind) {
    case "command":
      return checkCommands(guard.refused, checked);
    case "path":
      return checkPaths(guard, checked, {
        directory: rule.directory,
        root: place.root,
        realPath: place.realPath,
      });
    case "commit_message":
      return first(seen.calls, (call) => {
        if (!matchesCall(call, COMMIT)) return undefined;
        const readFile = (path: string) => place.readFile(toAbsolutePath(path, call.cwd) ?? path);
        const message = findCommitMessage(call.words, { stdin: call.stdin, readFile });
        if (message.kind === "none") return undefined;
        return message.kind === "unseen"
          ? "its message cannot be read before it runs; give it with -m"
          : findFormatProblem(message.text, guard.format);
      });
    case "branch_name":
      return first(seen.calls, (call) => {
        const name = findNewBranch(call);
        return name === undefined ||
          !isKnown(name) ||
          guard.prefixes.some((prefix) => name.startsWith(prefix))
          ? undefined
          : `the branch would be called ${show(name)}`;
      });
    case "dependencies":
      return (
        first(seen.calls, (call) => {
          if (addsDependency(call.words)) return describeCall(call);
          const manifest = [
            ...call.writes,
            ...listTouched(call, place)
              .filter(({ access }) => access === "write")
              .map(({ path }) => path),
          ].find((path) => MANIFEST.test(path));
          const isEdit =
            call.writes.includes(manifest ?? "") ||
            /^(?:sed|perl|tee|ed|yq|sponge)$/.test(call.words[0] ?? "") ||
            isReplacement(call);
          return manifest !== undefined && isEdit ? unseenDependency(manifest) : undefined;
        }) ?? findManifestInCode(seen)
      );
    case "check":
      return undefined;
  }
}

function unseenDependency(manifest: string): string {
  return `whether ${show(manifest)} gets a dependency cannot be seen; change it with the edit tool`;
}

/** True for a file that becomes a manifest, unless it has been one before. */
function isReplacement({ words }: SeenCall): boolean {
  const [program = "", ...args] = words;
  const operands = args.filter((word) => !word.startsWith("-"));
  return (
    /^(?:mv|cp|install|ln)$/.test(program) && operands.slice(0, -1).every((path) => !MANIFEST.test(path))
  );
}

/** Code that writes the dependencies of a manifest. */
function findManifestInCode({ code }: SeenLine): string | undefined {
  for (const text of code) {
    if (!WRITES_FILE.test(text) || !/ependenc/i.test(text)) continue;
    const [, name] = MANIFEST_LITERAL.exec(text) ?? [];
    if (name !== undefined) return unseenDependency(name);
  }
  return undefined;
}

const WRITES_FILE =
  /writeFile|createWriteStream|outputJson|writeJson|Bun\.write|write_text|File\.write|IO\.write|\.dump\(|open\([^)]*["'][wa]/;
const MANIFEST_LITERAL =
  /["'`](?:[^"'`\n]*\/)?(package\.json|pyproject\.toml|Cargo\.toml|composer\.json|Pipfile)["'`]/;

const COMMIT: CommandPattern = { words: ["git", "commit"] };

function first(
  calls: readonly SeenCall[],
  check: (call: SeenCall) => string | undefined,
): string | undefined {
  for (const call of calls) {
    const why = check(call);
    if (why !== undefined) return why;
  }
  return undefined;
}

function checkCommands(
  refused: readonly CommandPattern[],
  { line, seen, place }: Checked,
): string | undefined {
  for (const call of seen.calls)
    for (const pattern of refused)
      if (matchesCall(call, pattern) && concernsBranch(call, pattern, seen, place)) return describeCall(call);
  if (seen.isHidden) return "what this command runs cannot be seen before it runs; write it plainly";
  if (!seen.isIncomplete) return undefined;
  const isNamed = refused.some(
    ({ words, branches }) =>
      branches === undefined &&
      words.length > 1 &&
      new RegExp(
        `\\b${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[\\s\"'\\\\,]+")}\\b`,
      ).test(line),
  );
  return isNamed ? "it cannot be read in full, and contains these words" : undefined;
}

/** True if the pattern is about all branches, or the call is about one of its branches. */
function concernsBranch(
  call: SeenCall,
  { branches }: CommandPattern,
  seen: SeenLine,
  place: CommandPlace,
): boolean {
  if (branches === undefined) return true;
  const isBranch = (name: string) => branches.some((branch) => branch.toLowerCase() === name.toLowerCase());
  const current = () => {
    const branch = seen.branch ?? place.branchOf(call.cwd);
    return branch === undefined || !isKnown(branch) || isBranch(branch);
  };
  if (!call.words.includes("push")) return current();
  const operands = call.words.slice(call.words.indexOf("push") + 1).filter((word) => !word.startsWith("-"));
  if (call.words.some((word) => /^--(?:all|mirror|branches)$/.test(word))) return true;
  const references = operands.slice(1);
  if (references.length === 0) return current();
  return references.some((reference) => {
    const target = (reference.split(":").at(-1) ?? "").replace(/^\+/, "").replace(/^refs\/heads\//, "");
    // All branches that exist on both sides, or that a pattern names.
    if (/^\+?:$/.test(reference)) return true;
    if (target.includes("*"))
      return branches.some((branch) => new Bun.Glob(target.replaceAll("*", "**")).match(branch));
    return (
      !isKnown(target) ||
      isBranch(target) ||
      ((target === "HEAD" || target === "@" || target === "") && current())
    );
  });
}

function findNewBranch({ words }: SeenCall): string | undefined {
  if (words[0] !== "git") return undefined;
  const option = words.findIndex(
    (word, index) =>
      index > 0 &&
      /^(?:-b|-B|-c|-C|--create|--force-create|--orphan)$/.test(word) &&
      (words.includes("checkout") || words.includes("switch") || words.includes("worktree")),
  );
  if (option > 0) return words[option + 1];
  if (!matchesCall({ words }, NEW_BRANCH)) return undefined;
  return words.slice(words.indexOf("branch") + 1).find((word) => !word.startsWith("-"));
}

function needsCheck({ before }: CheckGuard, { calls }: SeenLine): boolean {
  const patterns: Readonly<Record<CheckGuard["before"], readonly string[][]>> = {
    end: [],
    commit: [["git", "commit"]],
    push: [["git", "push"]],
    pull_request: [
      ["gh", "pr", "create"],
      ["glab", "mr", "create"],
    ],
  };
  return patterns[before].some((words) =>
    calls.some((call) => matchesCall(call, { words }) && !call.words.includes("--dry-run")),
  );
}

function checkPaths(guard: PathGuard, { seen, place }: Checked, where: GuardPlace): string | undefined {
  for (const call of seen.calls) {
    // What creates a link changes nothing at its end.
    const links = call.words[0] === "ln" ? undefined : seen.newLinks;
    const there = { ...where, realPath: (path: string) => place.realPath(followLinks(path, links)) };
    for (const touched of listTouched(call, place))
      if (refusesPath(guard, touched, there)) return `${describeCall(call)} concerns ${show(touched.path)}`;
  }
  for (const code of seen.code) {
    if (!(guard.access === "read" ? READS : WRITES).test(code)) continue;
    for (const [, text = ""] of code.matchAll(/["'`]([^"'`\n]{1,300})["'`]/g)) {
      const path = toAbsolutePath(text, place.cwd);
      // In code, words are paths only if they look like one.
      if (
        path === undefined ||
        !/[/.]/.test(text) ||
        /\s/.test(text) ||
        (guard.isAllowed && !existsSync(path))
      )
        continue;
      if (
        refusesPath(
          guard,
          { path, access: guard.access === "read" ? "read" : existsSync(path) ? "write" : "create" },
          where,
        )
      )
        return `its code concerns ${show(path)}`;
    }
  }
  return undefined;
}

/** Where a path leads once the links exist that a line creates. */
function followLinks(path: string, links: ReadonlyMap<string, string> = new Map()): string {
  for (const [link, target] of links)
    if (path === link || path.startsWith(`${link}/`)) return target + path.slice(link.length);
  return path;
}

const WRITES =
  /writ|(?<![=-])>\s*["']|open\(|unlink|remove|rename|\brm|mkdir|copy|save|dump|truncate|append|create|touch|shutil|move/i;
const READS = /read|open\(|file\(|text\(|load|cat|slurp|File\.|import|require|source|fetch/i;

/** The paths that a call touches. */
export function listTouched(
  call: SeenCall,
  { realPath, readFile }: Pick<CommandPlace, "realPath" | "readFile">,
): TouchedPath[] {
  const { written, removed, read } = findTouchedPaths(call.words, (path) =>
    isDirectory(toAbsolutePath(path, call.cwd) ?? path),
  );
  const toPaths = (paths: readonly string[], access: TouchedPath["access"]) =>
    paths.flatMap((path) => {
      const absolute = toAbsolutePath(withUnseenName(path), call.cwd);
      return absolute === undefined
        ? []
        : expandPattern(absolute, call.cwd).map((each) => ({ path: each, access }));
    });
  const patched = findPatchedPaths(call.words, {
    stdin: call.stdin,
    readFile: (path) => readFile(toAbsolutePath(path, call.cwd) ?? path),
  });
  const changes = [...written, ...call.writes, ...patched].flatMap((path) => toPaths([path], "write"));
  const created = changes
    .filter(({ path }) => !path.includes(UNSEEN_NAME) && !existsSync(realPath(path)))
    .map(({ path }) => ({ path, access: "create" as const }));
  return [
    ...changes,
    ...created,
    ...toPaths(removed, "remove"),
    ...toPaths(read, "read"),
    ...toPaths(call.reads, "read"),
  ];
}

/** Stands for the names in a path of which only the first directories are known. */
const UNSEEN_NAME = "(unseen)";

/** `generated/…` is below `generated`, whatever follows. */
function withUnseenName(path: string): string {
  const at = path.search(/[\uE000\uE001]/);
  return at < 0 || !path.slice(0, at).includes("/")
    ? path
    : `${path.slice(0, path.lastIndexOf("/", at) + 1)}${UNSEEN_NAME}`;
}

const MAX_MATCHES = 200;
/** Of the files below a directory, as `find` sees them. */
const MAX_FOUND = 5_000;
const MAX_SEARCH_MS = 300;

/** The files that a word such as `gen*` stands for, as the shell would find them; the word itself if there are none. */
function expandPattern(path: string, cwd: string): string[] {
  if (!/[*?[]/.test(path)) return [path];
  const isDeep = path.includes("**");
  // A search of the whole disk would take too long.
  if (isDeep && !path.startsWith(`${cwd}/`)) return [path];
  const end = monotonicMs() + MAX_SEARCH_MS;
  const literal = path.slice(0, path.search(/[*?[]/));
  const base = literal.slice(0, literal.lastIndexOf("/") + 1);
  const found: string[] = [];
  try {
    for (const match of new Bun.Glob(path.slice(base.length)).scanSync({
      cwd: base,
      dot: true,
      onlyFiles: false,
    })) {
      found.push(join(base, match));
      if (found.length >= (isDeep ? MAX_FOUND : MAX_MATCHES) || (isDeep && monotonicMs() > end)) break;
    }
  } catch {
    return [path]; // The directory does not exist.
  }
  return found.length === 0 ? [path] : found;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

const MAX_SHOWN = 120;

function describeCall({ words }: SeenCall): string {
  return show(words.join(" "));
}

function show(text: string): string {
  const line = text.replace(/[\uE000-\uE0FF]/g, "…").replace(/\s+/g, " ");
  return `\`${line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line}\``;
}

/** The branch that a repository's HEAD names. @param readFile the text of a file. */
export function readBranch(
  directory: string,
  readFile: (path: string) => string | undefined,
): string | undefined {
  for (let at = directory; ; at = join(at, "..")) {
    const link = /^gitdir: (.+)$/m.exec(readFile(join(at, ".git")) ?? "")?.[1]?.trim();
    const head = readFile(link === undefined ? join(at, ".git", "HEAD") : join(link, "HEAD"));
    if (head !== undefined) return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1]?.trim() ?? "HEAD";
    if (at === join(at, "..")) return undefined;
  }
}
