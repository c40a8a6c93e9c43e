import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { INSTRUCTION_FILES } from "../../config/instructions.ts";
import type { LoadedConfig } from "../../config/loader.ts";
import type { ProjectTrust } from "../../config/trust-items.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { userConfigDirectory } from "../../infrastructure/paths/user.ts";
import type { Environment } from "../../infrastructure/runtime.ts";

/** Where rules are looked for. */
export interface RuleExtensionPlace {
  cwd: string;
  environment: Environment;
  loaded: LoadedConfig;
  trust(): Promise<ProjectTrust>;
}

/** True if there may be rules: it looks at paths only. */
export function mayHaveRules({ cwd, environment, loaded }: Omit<RuleExtensionPlace, "trust">): boolean {
  const user = userConfigDirectory(environment);
  return (
    Object.values(loaded.config.rules ?? {}).some((rule) => rule !== false) ||
    hasProjectFile(cwd, loaded.projectRoot) ||
    (user !== undefined && INSTRUCTION_FILES.some((name) => existsSync(join(user, name))))
  );
}

/** True if a directory from the working directory up to the root has an instruction file. */
export function hasProjectFile(cwd: string, root: string): boolean {
  for (let directory = cwd; isInside(directory, root); directory = dirname(directory)) {
    if (INSTRUCTION_FILES.some((name) => existsSync(join(directory, name)))) return true;
    if (directory === dirname(directory)) break;
  }
  return false;
}

const MAX_WORDS = 200;

/** Finds the instruction files below the working directory that calls come near, by paths only; each directory once. */
export class NestedFiles {
  private readonly known = new Map<string, boolean>();

  constructor(private readonly cwd: string) {}

  /** True if a path in the arguments of a call leads into a directory below that has an instruction file. */
  isNear(input: Readonly<Record<string, unknown>>): boolean {
    const texts = Object.values(input).filter((value) => typeof value === "string");
    const words = texts
      .flatMap((text) => text.slice(0, 20_000).split(/[\s"'`;&|()<>=:]+/))
      .slice(0, MAX_WORDS);
    return words.some((word) => word !== "" && word.length < 1_000 && this.hasFile(resolve(this.cwd, word)));
  }

  private hasFile(directory: string): boolean {
    if (directory === this.cwd || !isInside(directory, this.cwd)) return false;
    const known = this.known.get(directory);
    if (known !== undefined) return known;
    const found =
      INSTRUCTION_FILES.some((name) => existsSync(join(directory, name))) || this.hasFile(dirname(directory));
    this.known.set(directory, found);
    return found;
  }
}
