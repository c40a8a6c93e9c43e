#!/usr/bin/env -S bun --no-env-file --no-install --config=/dev/null --tsconfig-override=/dev/null
// Without these options Bun runs a repository's code before ours: `preload` of a bunfig.toml, and whatever the `paths` of
// a tsconfig.json put in place of our modules; and its .env files could send the conversation elsewhere. `bun FILE` takes
// none of the options, so it is never what we tell users to type.
import { describeVersion } from "./version.ts";

const [option, ...more] = process.argv.slice(2);
if (more.length === 0 && (option === "--version" || option === "-v")) {
  console.log(`diligent ${await describeVersion()}`);
} else await (await import("./main.ts")).main();
