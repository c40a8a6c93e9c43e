import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bundleProgram, DEFAULT_OUTPUT } from "./shipped-program.ts";

/** Builds the program as files, into `packages/cli/dist`. */
rmSync(DEFAULT_OUTPUT, { recursive: true, force: true });
const { outputs } = await bundleProgram(DEFAULT_OUTPUT);
chmodSync(join(DEFAULT_OUTPUT, "diligent.js"), 0o755);

const bytes = outputs.reduce((sum, output) => sum + output.size, 0);
console.log(`${outputs.length} files, ${Math.round(bytes / 1024)} KB in ${DEFAULT_OUTPUT}`);
