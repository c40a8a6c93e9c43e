import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { type Environment, homeDirectory, processEnvironment } from "../infrastructure/environment.ts";
import { foldName } from "../infrastructure/fold-name.ts";
import {
  type ControlKind,
  type ControlView,
  findControlKind,
} from "../infrastructure/places/control-files.ts";
import { isGitConfig, mayHoldCredentials } from "../infrastructure/places/git-config.ts";
import { isSecretFile } from "../infrastructure/places/secret-files.ts";
import { userConfigDirectory, userStateDirectory } from "../infrastructure/places/user-directories.ts";
import { findRealPath, isInside, splitPath } from "../infrastructure/reading/real-path.ts";
import { showWord } from "./show-word.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";
import { ask } from "./verdicts.ts";

/** What the paths of one decision are compared with; absolute and real. */
export interface Surroundings {
  root: string;
  home: string | undefined;
  /** Where this program keeps its configuration, trust and grants, whatever names these directories; see `foldPath`. */
  ownDirectories: readonly string[];
}

/** What is done to a path, as far as danger depends on it. */
export interface DangerousUse {
  permission: "read" | "write";
  /** False when only names, sizes and the like are looked at. */
  readsContent: boolean;
}

/** Follows links once for a decision; what few paths need is only looked for when one does. */
export function findSurroundings(context: ApprovalContext): Surroundings {
  const { cwd, environment = processEnvironment() } = context;
  const toReal = (path: string) => findRealPath(path, cwd) ?? path;
  const givenHome = context.home ?? homeDirectory(environment);
  let own: string[] | undefined;
  let home: string | undefined;
  return {
    root: toReal(context.root),
    get home() {
      home ??= givenHome && toReal(givenHome);
      return home;
    },
    get ownDirectories() {
      own ??= [...findOwnDirectories(environment, givenHome)].map((path) => foldPath(toReal(path)));
      return own;
    },
  };
}

function findOwnDirectories(environment: Environment, home: string | undefined): Set<string> {
  const named = [userConfigDirectory(environment), userStateDirectory(environment)];
  // Where they would be for a session with another environment.
  const usual = home === undefined ? [] : [".config/diligent", ".local/state/diligent"];
  return new Set([
    ...named.filter((path) => path !== undefined),
    ...usual.map((path) => join(home ?? "", path)),
  ]);
}

/** An absolute path in the form in which the most forgiving file system compares it, with a slash at its end. */
export function foldPath(path: string): string {
  return `/${splitPath(foldName(path)).join("/")}/`;
}

/** True where this program keeps what it trusts: nothing but an answer for this once lets it be touched. */
export function isOwnPlace(path: string, { ownDirectories }: Surroundings): boolean {
  const folded = foldPath(path);
  return ownDirectories.some((directory) => folded.startsWith(directory));
}

/** For what asks wherever it lies: control files that are written, secrets that are read. `path` is absolute. */
export function judgeDanger(
  path: string,
  { permission, readsContent }: DangerousUse,
  surroundings: Surroundings,
): ApprovalVerdict | undefined {
  if (permission === "read" && !readsContent) return undefined;
  const gate = permission === "write" ? "control_file" : "secret";
  const { root } = surroundings;
  const say = (what: string) =>
    ask(gate, `${showWord(isInside(path, root) ? relative(root, path) : path)} ${what}`);
  if (isOwnPlace(path, surroundings)) return say("is where diligent keeps its own");
  if (permission === "write") {
    const kind = findControlKind(path, viewOf(path, surroundings));
    if (kind !== undefined) return say("steers what other programs do");
    return isRepositoryHead(path)
      ? say("can make its directory a repository, whose settings git obeys")
      : undefined;
  }
  const isSecret = isSecretPath(path, surroundings) || (isGitConfig(path) && mayHoldCredentials(path));
  return isSecret ? say("may hold keys or passwords") : undefined;
}

/** Without one of these git takes no directory for a repository; with it, other names that mean nothing make it one. */
function isRepositoryHead(path: string): boolean {
  return ["head", "commondir"].includes(foldName(basename(path)));
}

/**
 * True when a rule's pattern means such a path: `.github/workflows/**` and `.env.example` do, `**` does not. Asked for
 * a path that is a danger.
 */
export function namesDanger(
  pattern: string,
  { path, permission }: { path: string; permission: "read" | "write" },
  surroundings: Surroundings,
): boolean {
  if (isOwnPlace(path, surroundings)) return false;
  const named = toAbsolutePattern(pattern, surroundings);
  if (permission === "read") return isSecretPath(named, surroundings) || isGitConfig(named);
  const wanted = findControlKind(path, viewOf(path, surroundings));
  if (wanted === undefined && isRepositoryHead(path)) return isRepositoryHead(named);
  const meant = findControlKind(named, viewOf(named, surroundings));
  return meant !== undefined && STRENGTH[meant] >= STRENGTH[wanted ?? "listed"];
}

// Who names a directory of the home means what lies in it, but not what starts with every session.
const STRENGTH: Readonly<Record<ControlKind, number>> = { home: 0, listed: 1 };

function viewOf(path: string, { root, home }: Surroundings): ControlView {
  return { root: isInside(path, root) ? root : undefined, home };
}

/** By its name alone. Directories around the project count where they are the user's own. */
function isSecretPath(path: string, { root, home }: Surroundings): boolean {
  if (!isInside(path, root)) return isSecretFile(path);
  if (isSecretFile(relative(root, path))) return true;
  return home !== undefined && isInside(root, home) && isSecretFile(relative(home, path));
}

function toAbsolutePattern(pattern: string, { root, home }: Surroundings): string {
  if (home !== undefined && (pattern === "~" || pattern.startsWith("~/")))
    return join(home, pattern.slice(1));
  return isAbsolute(pattern) ? resolve(pattern) : join(root, pattern);
}
