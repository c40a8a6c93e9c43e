import { realpathSync, type Stats, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { isInside, isSecretFile } from "@diligent/core/interactive";
import { showPath } from "../text/show-path.ts";

/** Where mentions lead from. All absolute and real. */
export interface MentionPlace {
  cwd: string;
  /** The project. */
  root: string;
  /** What `~` stands for. */
  home?: string | undefined;
}

/** Something that is there under a path that a prompt names. */
export interface MentionedPath {
  /** For the model: relative to the working directory where it lies in it. */
  shown: string;
  realPath: string;
  kind: "file" | "directory" | "other";
  isOutside: boolean;
  isSecret: boolean;
}

/** Undefined where nothing is, or nothing that may be looked at: the mention is then text like any other. */
export function findMentioned(mention: string, { cwd, root, home }: MentionPlace): MentionedPath | undefined {
  const path = expandHome(mention, home);
  if (path === undefined) return undefined;
  const absolute = resolve(cwd, path);
  try {
    const realPath = realpathSync(absolute);
    return {
      shown: absolute === cwd ? "." : showPath(absolute, cwd),
      realPath,
      kind: kindOf(statSync(realPath)),
      isOutside: !isInside(realPath, root),
      isSecret: isSecretFile(realPath) || isSecretFile(absolute),
    };
  } catch {
    return undefined; // Missing, a link that leads nowhere, or in a directory that may not be searched.
  }
}

function expandHome(mention: string, home: string | undefined): string | undefined {
  if (mention !== "~" && !mention.startsWith("~/")) return mention;
  return home !== undefined && isAbsolute(home) ? join(home, mention.slice(1)) : undefined;
}

function kindOf(stats: Stats): MentionedPath["kind"] {
  if (stats.isDirectory()) return "directory";
  return stats.isFile() ? "file" : "other";
}
