import { join } from "node:path";
import { isThere } from "../infrastructure/reading/checked-file.ts";

/** What a configuration file may be called. */
export const CONFIG_NAMES = ["diligent.jsonc", "diligent.json"] as const;

/** True unless it is certain that a directory holds no configuration. */
export function mayHoldConfig(directory: string | undefined): boolean {
  if (directory === undefined) return false;
  try {
    return CONFIG_NAMES.some((name) => isThere(join(directory, name)));
  } catch {
    // Whoever reads the directory says what is wrong with it.
    return true;
  }
}
