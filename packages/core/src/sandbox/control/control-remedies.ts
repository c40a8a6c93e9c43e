import { relative } from "node:path";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import type { ControlFile } from "./control-file.ts";
import { moveAway, restoreLink } from "./quarantine.ts";

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

/** What is done about control files that came about or were changed unasked, and how it is said. */
export class ControlRemedies {
  constructor(private readonly options: ControlRemediesOptions) {}

  /** The user is told. @returns a line for the model; none for what is gone already. */
  moveAway(path: string): string[] {
    const { quarantine, maker, tell } = this.options;
    const name = this.nameOf(path);
    const made = `${maker} made ${name}, which decides what other programs do`;
    try {
      const target = moveAway(path, { name, quarantine });
      if (target === undefined) return [];
      tell?.(`${made}. It was moved to ${target}`);
      return [
        `${name} was moved to ${target}: commands in the sandbox may not make what decides what other programs do. If it belongs in the project, make it with the write tool or outside the sandbox; both ask the user`,
      ];
    } catch (error) {
      const problem = `${made}, and it is still there: ${error instanceof Error ? error.message : error}`;
      tell?.(problem);
      return [problem];
    }
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
