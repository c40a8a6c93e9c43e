import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scratch } from "./scratch.ts";

/** The home directory of a user who runs commands without a sandbox, whose cost is measured by itself. */
export function createUnboxedHome(scratch: Scratch): string {
  const home = scratch.makeDirectory("unboxed-home");
  const directory = join(home, ".config", "diligent");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "diligent.jsonc"), '{ "sandbox": "off" }\n', { mode: 0o600 });
  return home;
}
