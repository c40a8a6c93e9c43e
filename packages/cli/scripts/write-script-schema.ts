import { join } from "node:path";
import { scriptJsonSchema } from "@diligent/core/testing";

/** The published JSON Schema of a script. A test compares it with the schema that the program uses. */
export const SCRIPT_SCHEMA_PATH = join(import.meta.dir, "..", "docs", "script.schema.json");

if (import.meta.main) {
  await Bun.write(SCRIPT_SCHEMA_PATH, JSON.stringify(scriptJsonSchema(), null, 2));
  // The formatter formats short lists differently, and `check` enforces its form for every JSON file.
  const formatter = Bun.spawnSync(["bunx", "--no-install", "biome", "format", "--write", SCRIPT_SCHEMA_PATH]);
  process.exitCode = formatter.exitCode;
}
