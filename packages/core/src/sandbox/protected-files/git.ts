import { type BigIntStats, lstatSync, readlinkSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DirectoryEntry } from "../../infrastructure/fs/directory.ts";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { findRealPath, isInside } from "../../infrastructure/fs/real-path.ts";
import { fromNameBytes, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { now } from "../../infrastructure/runtime.ts";
import { readSystemEntries, SETTLED_AFTER_MS } from "./directory.ts";
import type { Reason } from "./types.ts";

/** The protected files in a git directory and its submodules, there or not, and the directories they lie in. */
interface GitLocations {
  protectedFiles: string[];
  /** The same, where something that may not be there later makes them such; see `ProtectedFile.reasons`. */
  named: Map<string, Reason[]>;
  /** Links on the way to these. */
  namedLinks: Map<string, Reason[]>;
  /** How many paths the settings name. */
  namedCount: number;
  /** The git directory and those; parents before children. */
  directories: string[];
  /** False where there are more than can be looked at for every command. */
  isComplete: boolean;
}

/**
 * The files that decide which programs git runs: settings, hooks, the files that redirect git to these, and those
 * that name push targets or filters. From gitrepository-layout(5) and githooks(5).
 */
const CONTROL_NAMES: readonly string[] = [
  ...["config", "config.worktree", "hooks", "commondir", "gitdir", "remotes"],
];

interface GitSearch {
  /** Where commands may write, git directories elsewhere included: what the settings name elsewhere is safe from them. */
  roots: readonly string[];
  /** Called with each directory before it is read. */
  enter(directory: string): void;
}

export function findGitLocations(gitDirectory: string, { roots, enter }: GitSearch): GitLocations {
  const { directories, links, isComplete } = findGitDirectories(gitDirectory, enter);
  const controls = directories.flatMap(findProtectedFiles);
  const branches = directories.flatMap((directory) => findBranches(`${directory}/branches`, enter));
  const all = [...controls, ...branches];
  const named = findNamedPaths(directories, roots);
  return {
    protectedFiles: [...all, ...all.flatMap(findLinkedHooks), ...links],
    named: new Map([...named.places].flatMap(([path, reasons]) => withLinkedHooks(path, reasons))),
    namedLinks: named.links,
    namedCount: named.count,
    directories,
    isComplete: isComplete && named.isComplete,
  };
}

function findProtectedFiles(directory: string): string[] {
  // Behind a link it may be anybody's.
  const attributes = kindOf(`${directory}/info`) === "directory" ? ["info/attributes"] : [];
  return [...CONTROL_NAMES, ...attributes].map((name) => `${directory}/${name}`);
}

/** Each names where to push to, as `remotes` do. The directory itself comes empty with every repository that git makes. */
function findBranches(directory: string, enter: (directory: string) => void): string[] {
  try {
    enter(directory);
    if (kindOf(directory) !== "directory") return [];
    return readSystemEntries(directory).map(({ name }) => `${directory}/${name}`);
  } catch {
    return []; // There is none.
  }
}

/** Hooks that are links: what is run lies elsewhere. */
function findLinkedHooks(directory: string): string[] {
  try {
    const entries = readSystemEntries(directory);
    return entries.filter(({ kind }) => kind === "link").map(({ name }) => `${directory}/${name}`);
  } catch {
    return []; // A file, or nothing.
  }
}

function withLinkedHooks(path: string, reasons: Reason[]): [path: string, reasons: Reason[]][] {
  return [path, ...findLinkedHooks(path)].map((file) => [file, reasons]);
}

function kindOf(path: string): "directory" | "other" | undefined {
  try {
    return lstatSync(toSystemPath(path)).isDirectory() ? "directory" : "other";
  } catch {
    return undefined; // Not there.
  }
}

/** A git directory with those of its submodules and worktrees, and of theirs. */
interface GitDirectories {
  /** Real as far as the first one is, which comes first; parents before children. */
  directories: string[];
  /** Links in the place of such a directory, or of one that holds some. They are not followed. */
  links: string[];
  /** False where there are more than can be looked at for every command. */
  isComplete: boolean;
}

// What there is of one costs a look 0.2 ms, and the box two mounts at least, of which it can have 200.
const MAX_GIT_DIRECTORIES = 100;

// A submodule takes about five; a search through as many takes some 50 ms.
const MAX_DIRECTORIES = 2_000;

/** Of a git directory, what holds no git directories, by the thousand. A submodule may be called like one. */
const CONTENTS: ReadonlySet<string> = new Set(["objects", "refs", "logs", "lfs"]);

/** Any of these makes a directory one, or may be on the way to it. */
const SIGNS: ReadonlySet<string> = new Set(["head", "config", "commondir", "gitdir"]);

/**
 * `repository`: a git directory. `worktrees`: holds git directories. `modules`: may be one and hold some, however deep: a
 * submodule's name may hold slashes, and what looks like a repository may have been made to.
 */
type Role = "repository" | "worktrees" | "modules";

interface Place {
  path: string;
  role: Role;
}

/** @param enter called with each directory before it is looked into. */
export function findGitDirectories(gitDirectory: string, enter: (directory: string) => void): GitDirectories {
  const directories: string[] = [];
  const links: string[] = [];
  const places: Place[] = [{ path: gitDirectory, role: "repository" }];
  let seen = 0;
  for (const { path, role } of places) {
    seen += 1;
    if (seen > MAX_DIRECTORIES || directories.length >= MAX_GIT_DIRECTORIES)
      return { directories, links, isComplete: false };
    enter(path);
    const entries = role === "repository" ? findHolders(path) : entriesIn(path);
    const isRepository = role === "repository" || (role === "modules" && isGitDirectory(entries));
    if (isRepository) directories.push(path);
    for (const { name, kind } of entries) {
      const inner = `${path}/${name}`;
      if (kind === "link" && mayLeadToDirectory(inner)) links.push(inner);
      if (kind !== "directory" || (isRepository && isContent(inner, name))) continue;
      places.push({ path: inner, role: roleOf(name, { role, isRepository }) });
    }
  }
  return { directories, links, isComplete: true };
}

function roleOf(name: string, around: { role: Role; isRepository: boolean }): Role {
  if (around.role === "worktrees") return "repository";
  return around.isRepository && name === "worktrees" ? "worktrees" : "modules";
}

/** Of what is in a git directory, what holds others. */
function findHolders(gitDirectory: string): DirectoryEntry[] {
  return ["worktrees", "modules"].flatMap((name) => {
    const kind = kindOfGitEntry(`${gitDirectory}/${name}`);
    return kind === undefined ? [] : [{ name, kind }];
  });
}

function isGitDirectory(entries: readonly DirectoryEntry[]): boolean {
  return entries.some(({ name }) => SIGNS.has(name.toLowerCase()));
}

function isContent(path: string, name: string): boolean {
  return CONTENTS.has(name) && kindOfGitEntry(`${path}/config`) === undefined;
}

/** False for a link to a file, which some versions of git make of `HEAD` and `packed-refs`. */
function mayLeadToDirectory(link: string): boolean {
  try {
    return !statSync(toSystemPath(link)).isFile();
  } catch {
    return !link.endsWith("/HEAD"); // It leads nowhere yet, as that does before the first commit.
  }
}

/** Nothing for a link: what it leads to is not looked into. */
function entriesIn(directory: string): DirectoryEntry[] {
  try {
    return kindOfGitEntry(directory) === "directory" ? readSystemEntries(directory) : [];
  } catch {
    return []; // Gone meanwhile, or not for this user.
  }
}

function kindOfGitEntry(path: string): DirectoryEntry["kind"] | undefined {
  try {
    const stats = lstatSync(toSystemPath(path));
    if (stats.isDirectory()) return "directory";
    return stats.isSymbolicLink() ? "link" : "file";
  } catch {
    return undefined; // Not there.
  }
}

/** A directory that was read, and the data that shows whether it has to be read again. */
interface ReadDirectory extends Pick<BigIntStats, "dev" | "ino" | "ctimeNs"> {
  /** False while a change might go unnoticed because clocks of file systems are coarse. */
  isSettled: boolean;
  links: readonly string[];
  directories: readonly string[];
}

interface LinkedLocation {
  path: string;
  /** How far below the git directory from which it was reached: what lies in one may be made to look like another. */
  depth: number;
}

// Only refs, what is logged of them and remembered conflicts can be so many; 40 ms where none has changed.
const MAX_LINKED_DIRECTORIES = 10_000;

/** What git writes to in the course of its work by opening it, and so through a link, below the git directory itself. */
const WRITTEN: readonly string[] = [
  ...["logs", "refs", "info", "objects"],
  ...["rebase-merge", "rebase-apply", "sequencer", "rr-cache"],
];

/** Of the objects, what is made under names that are known before. */
const WRITTEN_OBJECTS: readonly string[] = ["info", "pack"];

/**
 * Finds the links by which git would write somewhere else, again and again: a directory whose entries have not changed is
 * not read again.
 */
export class GitLinks {
  private known: ReadonlyMap<string, ReadDirectory> = new Map();

  /** @param maxDirectories a search through more than these is not complete. */
  constructor(private readonly maxDirectories = MAX_LINKED_DIRECTORIES) {}

  /**
   * The links right in git directories, and in what git writes to below; absolute.
   * @param enter called with each directory that is to be read, before it is.
   * @returns also false for `isComplete` where there are more directories than can be looked at for every command.
   */
  find(gitDirectories: Iterable<string>, enter: (directory: string) => void) {
    const seen = new Map<string, ReadDirectory>();
    const links: string[] = [];
    const places: LinkedLocation[] = Array.from(gitDirectories, (path) => ({ path, depth: 0 }));
    for (const { path, depth } of places) {
      if (seen.size >= this.maxDirectories) return { links, isComplete: false };
      const directory = this.visit(path, enter);
      if (directory === undefined) continue;
      seen.set(path, directory);
      for (const name of directory.links) if (mayLeadAway(path, name)) links.push(`${path}/${name}`);
      for (const name of directory.directories)
        if (isWritten({ path, depth }, name)) places.push({ path: `${path}/${name}`, depth: depth + 1 });
    }
    this.known = seen;
    return { links, isComplete: true };
  }

  /** Undefined for what is no directory, is gone, or may not be looked into. */
  private visit(path: string, enter: (directory: string) => void): ReadDirectory | undefined {
    try {
      const known = this.known.get(path);
      const stats = lstatSync(toSystemPath(path), { bigint: true });
      if (!stats.isDirectory()) return undefined;
      if (known?.isSettled && isUnchanged(known, stats)) return known;
      enter(path);
      return read(path, stats);
    } catch {
      return undefined; // Gone meanwhile, or `enter` has noted that it may not be read.
    }
  }
}

/** Objects come by the thousand, and are made under names of their own: no link to one is written through. */
function isWritten({ path, depth }: LinkedLocation, name: string): boolean {
  if (depth === 0) return WRITTEN.includes(name);
  return depth > 1 || WRITTEN_OBJECTS.includes(name) || !path.endsWith("/objects");
}

function isUnchanged(known: ReadDirectory, { dev, ino, ctimeNs }: BigIntStats): boolean {
  return known.ino === ino && known.dev === dev && known.ctimeNs === ctimeNs;
}

function read(path: string, { dev, ino, ctimeNs, ctimeMs }: BigIntStats): ReadDirectory {
  const isSettled = now() - Number(ctimeMs) > SETTLED_AFTER_MS;
  const links: string[] = [];
  const directories: string[] = [];
  for (const { name, kind } of readSystemEntries(path)) {
    if (kind === "link") links.push(name);
    if (kind === "directory") directories.push(name);
  }
  return { dev, ino, ctimeNs, isSettled, links, directories };
}

/** False for the mark that an editor leaves beside a file it has open, and for a `HEAD` that names a branch as a link. */
function mayLeadAway(directory: string, name: string): boolean {
  if (name.startsWith(".#")) return false;
  if (name !== "HEAD") return true;
  try {
    const target = readlinkSync(toSystemPath(`${directory}/${name}`));
    return !target.startsWith("refs/") || target.split("/").includes("..");
  } catch {
    return true; // Gone meanwhile.
  }
}

/** One setting of git that names a path: hooks, a tree, further settings. */
interface GitSetting {
  /** Without the section, in lower case. */
  key: string;
  value: string;
  /** It stands in this one. */
  file: string;
  /** That file and those by which it is included. */
  files: readonly string[];
}

const MAX_BYTES = 256 * 1024;
const MAX_INCLUDES_DEEP = 4;

/** Their keys, whatever the section. */
const NAMING: ReadonlySet<string> = new Set(["hookspath", "path", "worktree"]);

// Twice as long as a path can be: in quotes any character may take two.
const MAX_VALUE = 8_192;

/** `[section "x"]` at the beginning of a line, and what a setting without it begins with. */
const SECTION = /^\[(?:[^\]"\\]|"(?:[^"\\]|\\.)*")*\]/s;
const KEY = /^[a-z][\w-]*/i;

/**
 * What a file of settings and those that it includes name, whatever the conditions; see git-config(1). Nothing for
 * a file that is not there. Lines that are not settings are skipped, and so are paths from `~`.
 * @param limit after so many the rest is left out: commands can make files of nothing else.
 */
export function readNamingSettings(file: string, limit: number): GitSetting[] {
  const settings: GitSetting[] = [];
  readInto(settings, file, { around: [], limit, read: new Map() });
  return settings;
}

type NamedPath = Pick<GitSetting, "key" | "value">;

interface Inclusion {
  /** The files by which this one is included. */
  around: readonly string[];
  limit: number;
  /** What is in the files that were read; undefined for one that is being included. */
  read: Map<string, readonly NamedPath[] | undefined>;
}

/**
 * A file that is included in several ways is there once for each: any of these may be a command's, and what it names would
 * seem to be so too.
 */
function readInto(settings: GitSetting[], file: string, { around, limit, read }: Inclusion): void {
  if (around.length > MAX_INCLUDES_DEEP || settings.length >= limit) return;
  const real = findRealPath(file, "/") ?? file;
  // Files may include themselves, in every line.
  if (read.has(real) && read.get(real) === undefined) return;
  const named = read.get(real) ?? readFile(real, limit);
  read.set(real, undefined);
  const files = [...around, file];
  const own = named.slice(0, limit - settings.length);
  for (const setting of own) settings.push({ ...setting, file, files });
  for (const { key, value } of own)
    if (key === "path")
      readInto(settings, joinAsWritten(dirname(file), value), { around: files, limit, read });
  read.set(real, named);
}

function readFile(path: string, limit: number): NamedPath[] {
  const named: NamedPath[] = [];
  for (const line of (readSmallText(path, MAX_BYTES) ?? "").replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const setting = readLine(line);
    if (setting !== undefined) named.push(setting);
    if (named.length >= limit) break;
  }
  return named;
}

/** Where a path leads that is written in a file. `..` is left in it: behind a link it is not the directory before. */
function joinAsWritten(directory: string, path: string): string {
  return path.startsWith("/") ? path : `${directory}/${path}`;
}

/** In pieces: what commands make may be one line of nothing but blanks, which takes one pattern for all of it minutes. */
function readLine(line: string): NamedPath | undefined {
  const start = line.trimStart();
  const setting = start.slice(SECTION.exec(start)?.[0].length ?? 0).trimStart();
  const written = KEY.exec(setting)?.[0] ?? "";
  const [key, rest] = [written.toLowerCase(), setting.slice(written.length).trimStart()];
  if (!NAMING.has(key) || !rest.startsWith("=")) return undefined;
  const value = readValue(rest.slice(1, MAX_VALUE));
  return value.startsWith("~") ? undefined : { key, value };
}

/** Without quotes, escapes and what is remarked behind it. */
function readValue(written: string): string {
  let value = "";
  let isQuoted = false;
  for (const [part] of written.matchAll(/\\.|[\s\S]/g)) {
    if (part === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (part === "#" || part === ";")) break;
    else value += part.length > 1 ? part.slice(1) : part;
  }
  return value.trim();
}

/** A path that settings or the file of a worktree speak of, and what has led to it. */
interface Named {
  path: string;
  reason: Reason;
}

const MAX_FILE_BYTES = 256 * 1024;

// Of one git directory; people have one or two.
const MAX_NAMED = 50;

// A look follows all of them, in each tree of their git directories: some 50 ms.
const MAX_FOLLOWED = 2_000;

/**
 * What the settings of git directories name where commands may write, there or not: hooks that are kept elsewhere, further
 * settings; and the `links` on the way to these. What they name elsewhere is safe from commands.
 * @param roots where commands may write.
 * @returns also false for `isComplete` where settings name more than can be looked at for every command.
 */
function findNamedPaths(gitDirectories: readonly string[], roots: readonly string[]) {
  const places = new Map<string, Reason[]>();
  const links = new Map<string, Reason[]>();
  const add = (to: Map<string, Reason[]>, path: string, reason: Reason) => {
    // To hold all of what commands may write to would leave nothing.
    if (roots.some((root) => isInside(root, path))) return;
    const reasons = to.get(path);
    if (reasons) reasons.push(reason);
    else to.set(path, [reason]);
  };
  const ways = new Map<string, InnerWay>();
  const follow = (path: string, throughEnd: boolean) => {
    const key = `${path}\0${throughEnd}`;
    const way = ways.get(key) ?? followInside(path, roots, { throughEnd });
    ways.set(key, way);
    return way;
  };
  const found = gitDirectories.map((one) => findNamed(one, gitDirectories));
  const all = found.flatMap(({ named }) => named);
  for (const { path, reason } of all.slice(0, MAX_FOLLOWED)) {
    const way = follow(path, false);
    const known = [...new Set(reason.flatMap((file) => toSteps(follow(file, true))))];
    for (const [index, link] of way.links.entries())
      add(links, link, [...known, ...way.links.slice(0, index)]);
    if (way.end !== undefined) add(places, way.end, [...known, ...way.links]);
  }
  const isComplete = all.length <= MAX_FOLLOWED && found.every((one) => one.isComplete);
  return { places, links, count: all.length, isComplete };
}

function toSteps({ links, end }: InnerWay): string[] {
  return end === undefined ? links : [...links, end];
}

function findNamed(gitDirectory: string, gitDirectories: readonly string[]) {
  const files = ["config", "config.worktree"].map((name) => `${gitDirectory}/${name}`);
  const all = files.flatMap((file) => readNamingSettings(file, MAX_NAMED));
  const valuesOf = (wanted: string) => all.filter(({ key }) => key === wanted);
  const trees: Named[] = [
    { path: dirname(gitDirectory), reason: [] },
    { path: gitDirectory, reason: [] },
    ...valuesOf("worktree").map(({ value, files }) => ({
      path: joinAsWritten(gitDirectory, value),
      reason: files,
    })),
    ...findWorktrees(gitDirectory, gitDirectories),
  ];
  const hooks = valuesOf("hookspath").flatMap(({ value, files }) =>
    trees.map(({ path, reason }) => ({ path: joinAsWritten(path, value), reason: [...files, ...reason] })),
  );
  const included = valuesOf("path").map(({ value, file, files }) => ({
    path: joinAsWritten(dirname(file), value),
    reason: files,
  }));
  return { named: [...hooks, ...included], isComplete: all.length < MAX_NAMED };
}

/** Where the trees are to which a git directory belongs: its own as a linked one, and those of its worktrees. */
function findWorktrees(gitDirectory: string, gitDirectories: readonly string[]): Named[] {
  const worktrees = gitDirectories.filter((path) => dirname(path) === `${gitDirectory}/worktrees`);
  return [gitDirectory, ...worktrees].flatMap((directory) => {
    const file = `${directory}/gitdir`;
    const [back] = /^.+$/m.exec(readSmallText(file, MAX_FILE_BYTES) ?? "") ?? [];
    return back === undefined
      ? []
      : [{ path: dirname(joinAsWritten(directory, back.trimEnd())), reason: [file] }];
  });
}

/** How a path leads through what commands may change. */
interface InnerWay {
  /** The links on the way, each by a path without links before it. */
  links: string[];
  /** What the path names, there or not, without links on the way; undefined where that is elsewhere. */
  end: string | undefined;
  /** How many entries were looked at. */
  steps: number;
}

// Linux gives up after as many.
const MAX_LINKS = 40;

// More than paths have; commands can make links that lead on and on.
const MAX_STEPS = 256;
const MAX_LENGTH = 16_384;

/**
 * Follows a path as the system does: a link may lead into one of `roots` from outside, and what `..` stands for depends on
 * the links before it.
 * @param path absolute, as it is written.
 * @param roots real.
 * @param options.throughEnd whether a link that the path ends with is followed too.
 */
export function followInside(path: string, roots: readonly string[], { throughEnd = false } = {}): InnerWay {
  const links: string[] = [];
  if (path.length > MAX_LENGTH) return { links, end: undefined, steps: 0 };
  // Above a root there are no links.
  const start = roots.find((root) => path.startsWith(`${root}/`)) ?? "";
  const rest = toParts(path.slice(start.length));
  let end = start;
  let steps = 0;
  let seen = 0;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    steps += 1;
    if (steps > MAX_STEPS || seen > MAX_LINKS) return { links, end: undefined, steps };
    if (part === "..") {
      end = directoryOf(end);
      continue;
    }
    const next = `${end}/${part}`;
    const target = rest.length > 0 || throughEnd ? readTarget(next) : undefined;
    if (target === undefined) {
      end = next;
      continue;
    }
    seen += 1;
    if (roots.some((root) => isInside(next, root))) links.push(next);
    if (target.startsWith("/")) end = "";
    rest.unshift(...toParts(target));
  }
  return { links, end: roots.some((root) => isInside(end || "/", root)) ? end : undefined, steps };
}

function toParts(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

/** As it is written; undefined for what is no link or not there. */
function readTarget(path: string): string | undefined {
  try {
    const name = toSystemPath(path);
    if (!lstatSync(name).isSymbolicLink()) return undefined;
    return fromNameBytes(readlinkSync(name, { encoding: "buffer" }));
  } catch {
    return undefined; // Missing, and what lies further down is missing too.
  }
}

/** As `dirname`, which loses the bytes of a name that is no text. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
