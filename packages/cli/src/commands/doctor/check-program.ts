import { describeVersion } from "../../version.ts";
import { type Check, ok, warning } from "./check.ts";

// As the repository's package.json has it; an older Bun is not what the tests were run with.
const TESTED_BUN = "1.4.5";

/** Which diligent this is, and what it runs on. */
export async function checkProgram(platform: string): Promise<Check[]> {
  const system = `${platform} ${process.arch}`;
  const isOld = Bun.semver.order(Bun.version, TESTED_BUN) < 0;
  const bun = isOld
    ? warning(
        "bun",
        `${Bun.version} on ${system}`,
        `diligent is made for ${TESTED_BUN} and later: bun upgrade`,
      )
    : ok("bun", `${Bun.version} on ${system}`);
  return [ok("diligent", `${await describeVersion()}, from ${programPlace()}`), bun];
}

/** Whether the program is one file, with everything it needs inside. */
export function isExecutable(): boolean {
  return Bun.main.startsWith("/$bunfs/");
}

/** Inside an executable there is no file system of ours. */
function programPlace(): string {
  return isExecutable() ? process.execPath : Bun.main;
}
