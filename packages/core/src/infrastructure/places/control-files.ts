import { foldName } from "../fold-name.ts";
import { splitPath } from "../reading/real-path.ts";
import { CONTROL_NAMES, CONTROL_PLACES, HOME_NAMES } from "./control-file-names.ts";

/** Where a path is looked at from; absolute. */
export interface ControlView {
  /** The project that the path lies in. What this directory itself is called says nothing about a file in it. */
  root?: string | undefined;
  home?: string | undefined;
}

/**
 * `listed`: its name, or that of a directory it lies in, is known to decide what other programs do. `home`: it is one of
 * the settings that lie in a home directory, whatever reads them.
 */
export type ControlKind = "listed" | "home";

/**
 * Says of an absolute path whether its content decides what other programs do later: writing it needs a person's consent
 * even inside the project. Names count at any depth, since a project can hold other repositories, and in any case and
 * Unicode form, since some file systems take `.GIT` and `.g\u200cit` for `.git`.
 */
export function findControlKind(path: string, { root, home }: ControlView): ControlKind | undefined {
  const parts = splitPath(path).map(foldName);
  const depth = root === undefined ? 0 : splitPath(root).length;
  if (parts.some((name, index) => index >= depth && isControlName(name))) return "listed";
  if (CONTROL_PLACES.some((place) => holdsPlace(parts, place, depth))) return "listed";
  return home !== undefined && isHomeSetting(parts, splitPath(home).map(foldName), depth)
    ? "home"
    : undefined;
}

/** The last components of the places: what bears another name is in none of them. */
const PLACE_ENDS: ReadonlySet<string> = new Set(CONTROL_PLACES.map((place) => place.at(-1) ?? ""));

/**
 * `findControlKind` for an entry of a directory that is itself no control file and lies in `root`, or is it: for a look at
 * thousands. Settings of a home directory do not count.
 */
export function isControlEntry(directory: string, name: string, root: string): boolean {
  const folded = foldName(name);
  if (isControlName(folded)) return true;
  return PLACE_ENDS.has(folded) && findControlKind(`${directory}/${name}`, { root }) !== undefined;
}

/** Beginnings of the places that are hidden: links with such names are made for the programs that look there. */
const HIDDEN_PLACES = CONTROL_PLACES.filter(([top = ""]) => top.startsWith("."));
const PLACE_PARENTS: ReadonlySet<string> = new Set(HIDDEN_PLACES.flatMap((place) => place.slice(0, -1)));

/**
 * For a link, what would decide what other programs do below it: paths from where it leads. None for most. A name without a
 * dot (`library`) is any directory's, and has none.
 */
export function findPlacesBehind(link: string, root: string): string[] {
  const name = foldName(link.slice(link.lastIndexOf("/") + 1));
  if (!PLACE_PARENTS.has(name)) return [];
  const parts = splitPath(link).map(foldName).slice(splitPath(root).length);
  return HIDDEN_PLACES.flatMap((place) =>
    place.flatMap((_, index) => {
      const isHere = index > 0 && place.slice(0, index).every((part, at) => parts.at(at - index) === part);
      return isHere ? [place.slice(index).join("/")] : [];
    }),
  );
}

const NAME_PATTERN = new RegExp(
  `^(?:${CONTROL_NAMES.map((name) => name.replaceAll(".", "\\.").replaceAll("*", ".*")).join("|")})$`,
  "s",
);

/** Changes with the list: what was no control file to an earlier version may be one now. */
export function controlListStamp(): string {
  return Bun.hash(JSON.stringify([CONTROL_NAMES, CONTROL_PLACES])).toString(36);
}

const knownNames = new Map<string, boolean>();
const MAX_KNOWN_NAMES = 10_000;

function isControlName(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  if (knownNames.size >= MAX_KNOWN_NAMES) knownNames.clear();
  const isControl = NAME_PATTERN.test(name);
  knownNames.set(name, isControl);
  return isControl;
}

/** True when the place ends below the first `depth` components. */
function holdsPlace(parts: readonly string[], place: readonly string[], depth: number): boolean {
  return parts.some(
    (_, start) =>
      start + place.length > depth && place.every((part, offset) => parts[start + offset] === part),
  );
}

function isHomeSetting(parts: readonly string[], home: readonly string[], depth: number): boolean {
  const name = parts[home.length];
  if (name === undefined || home.length < depth || !home.every((part, index) => parts[index] === part)) {
    return false;
  }
  return name.startsWith(".") || HOME_NAMES.has(name);
}
