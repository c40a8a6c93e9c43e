import { isInside } from "../../infrastructure/reading/real-path.ts";
import { lookAt } from "./control-file.ts";
import { readSystemEntries } from "./system-entries.ts";

/**
 * Of a control file or directory that came about: what nobody has consented to, the outermost paths.
 * @param written what was written with consent and is still as it was written; absolute.
 */
export function findUnconsented(path: string, written: readonly string[]): string[] {
  if (!written.some((file) => isInside(file, path))) return [path];
  if (lookAt(path)?.kind !== "directory") return written.includes(path) ? [] : [path];
  const names = namesIn(path);
  return names ? names.flatMap((name) => findUnconsented(`${path}/${name}`, written)) : [path];
}

/** Undefined where that cannot be told: something else may lie beside what was written. */
function namesIn(directory: string): string[] | undefined {
  try {
    return readSystemEntries(directory).map(({ name }) => name);
  } catch {
    return undefined;
  }
}
