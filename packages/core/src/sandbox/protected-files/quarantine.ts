import { symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import type { ListingRestorer } from "../../infrastructure/fs/listing-restorer.ts";
import { CopyAllowance, moveAway } from "../../infrastructure/fs/move-away.ts";
import { HeldDirectory, isInside } from "../../infrastructure/fs/real-path.ts";
import { directoryOf, isBelowAny, nameOf } from "../../infrastructure/fs/seen-file.ts";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import { generateSessionId } from "../../infrastructure/runtime.ts";
import type { ProtectedFile } from "./types.ts";

export interface ProtectedFileRemediesOptions {
  /** Where commands may write, the project first. */
  roots: readonly string[];
  /** Where what appears is moved to. */
  quarantine: string;
  /** What is known of something that appeared, for the user: a sentence without its end. */
  describeAppeared(name: string): string;
  /** Reports to the user, in a sentence. */
  notify?: ((message: string) => void) | undefined;
}

// A command that makes more of them at once gets no longer list for it.
const MAX_NAMED = 5;

/** Handles protected files that were created or changed without approval, and reports it. Lines are for the model. */
export class ProtectedFileRemedies {
  /** Where things were that were moved away so far; absolute. */
  readonly movedPaths: string[] = [];

  constructor(private readonly options: ProtectedFileRemediesOptions) {}

  /** Moves these away, all of one call into one directory. The user is told, of the first few by name. */
  moveAway(paths: readonly string[]): string[] {
    const directory = join(this.options.quarantine, generateSessionId());
    const allowance = new CopyAllowance();
    const all = new Set(paths);
    const outermost = [...all].filter((path) => !isBelowAny(path, all));
    const moves = outermost.flatMap((path) => this.move(path, directory, allowance));
    for (const { path, hasFailed } of moves) if (!hasFailed) this.movedPaths.push(path);
    const named = moves.slice(0, MAX_NAMED);
    for (const { message } of named) this.options.notify?.(message);
    const notes = named.map(({ note }) => note);
    const others = moves.slice(MAX_NAMED);
    if (others.length === 0) return notes;
    const failed = others.filter(({ hasFailed }) => hasFailed).length;
    const except = failed === 0 ? "" : `, except ${failed}, which are still there`;
    const line = `${others.length} more files and directories of this kind were created, and moved to ${directory} or renamed`;
    return [...notes, this.report(line + except)];
  }

  /** What came of it, for the user (`message`) and for the model (`note`); none where nothing was there. */
  private move(path: string, directory: string, allowance: CopyAllowance) {
    const name = this.nameOf(path);
    const appeared = this.options.describeAppeared(name);
    try {
      // A link from the project with such a name may have been moved there, and is not to lead out again.
      const top = name.startsWith("/") ? `${directory}-elsewhere` : directory;
      const target = moveAway(path, join(top, name), allowance);
      if (target === undefined) return [];
      const note = `${name} was moved to ${target}: commands in the sandbox may not create files that control other programs. If it belongs in the project, create it with the write tool or outside the sandbox; both need approval`;
      return [
        {
          path,
          hasFailed: false,
          message: `${appeared}. It was moved to ${target}. Move it back if it is yours`,
          note,
        },
      ];
    } catch (error) {
      const message = `${appeared}, and could not be moved away: ${error instanceof Error ? error.message : error}`;
      return [{ path, hasFailed: true, message, note: message }];
    }
  }

  /** Puts a link back. @returns a line; undefined where that was not possible. */
  putBack({ path, target }: ProtectedFile): string | undefined {
    if (target === undefined) return undefined;
    try {
      using parent = HeldDirectory.open(directoryOf(path) || "/");
      symlinkSync(toSystemPath(target), toSystemPath(parent.at(nameOf(path))));
      return `the link ${this.nameOf(path)} was restored: commands in the sandbox may not change it`;
    } catch {
      return undefined; // Its directory is gone, or something is there that could not be moved away, which was reported.
    }
  }

  /** Reports what was not changed. @param rest what is to be said of these, for one and for several. */
  reportFiles(files: readonly ProtectedFile[], rest: string, restOfMany = rest): string[] {
    const names = files.map(({ path }) => this.nameOf(path)).sort();
    return listFirst(names).map((list) => this.report(`${list} ${names.length > 1 ? restOfMany : rest}`));
  }

  report(line: string): string {
    this.options.notify?.(line);
    return line;
  }

  /** As a person knows it: from the project where it lies in that. */
  nameOf(path: string): string {
    const [project] = this.options.roots;
    const isWithin = project !== undefined && path !== project && isInside(path, project);
    return isWithin ? relative(project, path) : path;
  }
}

const LISTABLE_AGAIN =
  "could not be listed any more: the owner's rights to list, search and write were restored, since commands in the sandbox may not hide files that they create";

/** What was done about directories that commands made unlistable, a line for each, for the model. */
export function describeListings(
  { opened, stuck }: ListingRestorer,
  nameOf: (path: string) => string,
): string[] {
  const again = opened.map(({ path, mode }) => `${nameOf(path)} (now ${mode})`);
  const closed = [...stuck.values()].map(({ path }) => nameOf(path));
  return [
    ...listFirst(again).map((names) => `${names} ${LISTABLE_AGAIN}`),
    ...listFirst(closed).map((names) => `${names} cannot be listed: read-only in the sandbox from now on`),
  ];
}

/** As one text, or none. */
export function listFirst(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return [names.slice(0, MAX_NAMED).join(", ") + more];
}
