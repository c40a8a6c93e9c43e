import { join, relative } from "node:path";
import { generateSessionId } from "../../infrastructure/ids.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import type { ControlFile } from "./control-file.ts";
import { isBelowAny } from "./control-look.ts";
import { CopyAllowance, moveAway, restoreLink } from "./quarantine.ts";

export interface ControlRemediesOptions {
  /** Where commands may write, the project first. */
  roots: readonly string[];
  /** Where what appears is moved to. */
  quarantine: string;
  /** Who made what appears, for the user, as the beginning of a sentence. */
  maker: string;
  /** Tells the user, in a sentence. */
  tell?: ((message: string) => void) | undefined;
}

interface Move {
  hasFailed: boolean;
  /** For the user and for the model. */
  told: string;
  note: string;
}

// Whoever makes more of them in one go gets no longer list for it.
const MAX_NAMED = 5;

/** What is done about control files that came about or were changed unasked, and how it is said. */
export class ControlRemedies {
  constructor(private readonly options: ControlRemediesOptions) {}

  /**
   * Moves these away, all of one call into one directory. The user is told, of the first few by name.
   * @returns lines for the model; none for what is gone already.
   */
  moveAway(paths: readonly string[]): string[] {
    const directory = join(this.options.quarantine, generateSessionId());
    const allowance = new CopyAllowance();
    const all = new Set(paths);
    const outermost = paths.filter((path) => !isBelowAny(path, all));
    const moves = outermost.flatMap((path) => this.move(path, directory, allowance));
    const named = moves.slice(0, MAX_NAMED);
    for (const { told } of named) this.options.tell?.(told);
    return [...named.map(({ note }) => note), ...this.tellOthers(moves.slice(MAX_NAMED), directory)];
  }

  private move(path: string, directory: string, allowance: CopyAllowance): Move[] {
    const name = this.nameOf(path);
    const made = `${this.options.maker} made ${name}, which decides what other programs do`;
    try {
      // A link from the project with such a name may have been moved there, and is not to lead out again.
      const top = name.startsWith("/") ? `${directory}-elsewhere` : directory;
      const target = moveAway(path, join(top, name), allowance);
      if (target === undefined) return [];
      return [
        {
          hasFailed: false,
          told: `${made}. It was moved to ${target}`,
          note: `${name} was moved to ${target}: commands in the sandbox may not make what decides what other programs do. If it belongs in the project, make it with the write tool or outside the sandbox; both ask the user`,
        },
      ];
    } catch (error) {
      const problem = `${made}, and it is still there: ${error instanceof Error ? error.message : error}`;
      return [{ hasFailed: true, told: problem, note: problem }];
    }
  }

  private tellOthers(moves: readonly Move[], directory: string): string[] {
    if (moves.length === 0) return [];
    const failed = moves.filter(({ hasFailed }) => hasFailed).length;
    const more = `${moves.length} more files and directories of this kind were made, and moved to ${directory} or away from their names`;
    const line = failed === 0 ? more : `${more}, but for ${failed}, which are still there`;
    this.options.tell?.(line);
    return [line];
  }

  /** What nobody can find any more. The user is told. @returns lines for the model. */
  tellLost(files: readonly ControlFile[]): string[] {
    if (files.length === 0) return [];
    const names = files.slice(0, MAX_NAMED).map(({ path }) => this.nameOf(path));
    const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
    const line = `${names.join(", ")}${more} cannot be found any more, and may lie where nothing is looked through, such as node_modules: it is not held there`;
    this.options.tell?.(line);
    return [line];
  }

  /** What somebody outside has replaced. The user is told. @returns lines for the model. */
  tellReplaced(files: readonly ControlFile[]): string[] {
    if (files.length === 0) return [];
    const all = files.map(({ path }) => this.nameOf(path)).sort();
    const names = all.slice(0, MAX_NAMED);
    const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
    const were = files.length === 1 ? "was" : "were";
    const line = `${names.join(", ")}${more} ${were} replaced from outside while the command ran`;
    this.options.tell?.(line);
    return [line];
  }

  /** The user is told. @returns the same for the model. */
  tellOverfull(): string {
    const line =
      "there are more directories now than can be looked through, so it is not known what commands made in them: no command runs in the sandbox until there are fewer";
    this.options.tell?.(line);
    return line;
  }

  /** Puts a link back. @returns a line for the model; undefined where that was not possible. */
  putBack({ path, target }: ControlFile): string | undefined {
    if (target === undefined) return undefined;
    try {
      restoreLink(path, target);
      return `the link ${this.nameOf(path)} was put back: commands in the sandbox may not change it`;
    } catch {
      return undefined; // Its directory is gone, or something is there that could not be moved away, which was said.
    }
  }

  /** As a person knows it: from the project where it lies in that. */
  nameOf(path: string): string {
    const [project] = this.options.roots;
    return project !== undefined && path !== project && isInside(path, project)
      ? relative(project, path)
      : path;
  }
}
