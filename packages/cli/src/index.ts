#!/usr/bin/env -S bun --no-env-file --no-install --config=/dev/null --tsconfig-override=/dev/null
// Without these options Bun runs a repository's code before ours: `preload` in a bunfig.toml, or modules that a
// tsconfig.json's `paths` substitute for ours; and its .env files could redirect the conversation. `bun FILE` takes
// none of these options, so we never tell users to type it.
import { describeVersion } from "./version.ts";

const [option, ...more] = process.argv.slice(2);
if (more.length === 0 && (option === "--version" || option === "-v")) {
  console.log(`diligent ${await describeVersion()}`);
} else await (await import("./main.ts")).main();
