import { lstatSync, readdirSync } from "node:fs";
import { isInside } from "../infrastructure/reading/real-path.ts";
import type { ControlLook } from "./control-watch.ts";

/**
 * Of a control file or directory that came about: what nobody has consented to, the outermost paths.
 * @param written what was written with consent and is still as it was written; absolute.
 */
export function findUnconsented(path: string, written: readonly string[]): string[] {
  if (!written.some((file) => isInside(file, path))) return [path];
  if (!isRealDirectory(path)) return written.includes(path) ? [] : [path];
  return readdirSync(path).flatMap((name) => findUnconsented(`${path}/${name}`, written));
}

/** A look as if these had not been there. */
export function withoutFiles(look: ControlLook, paths: readonly string[]): ControlLook {
  if (paths.length === 0) return look;
  const isLeft = (path: string) => !paths.some((gone) => isInside(path, gone));
  return {
    ...look,
    files: new Map([...look.files].filter(([path]) => isLeft(path))),
    gitDirectories: look.gitDirectories.filter(isLeft),
  };
}

function isRealDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
