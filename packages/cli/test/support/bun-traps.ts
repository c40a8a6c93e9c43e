import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TemporaryProject } from "./temporary-project.ts";

export interface Traps {
  /** The traps that had an effect. */
  sprung(): string[];
}

/** Everything in a repository that Bun would run or read: each leaves a file when it takes effect. */
export function plantTraps(place: TemporaryProject): Traps {
  const canary = (name: string) => join(place.top, `canary-${name}`);
  const leave = (name: string) => `require("fs").writeFileSync(${JSON.stringify(canary(name))}, "");`;
  place.write("preload.ts", leave("preload"));
  place.write("replaced.ts", leave("paths"));
  place.write("bunfig.toml", 'preload = ["./preload.ts"]\n');
  place.write(".env", "DILIGENT_MODEL=scripted/evil.json\nANTHROPIC_BASE_URL=http://127.0.0.1:9\n");
  place.write("tsconfig.json", { compilerOptions: { baseUrl: ".", paths: { "*": ["./replaced.ts"] } } });
  return { sprung: () => ["preload", "paths"].filter((name) => existsSync(canary(name))) };
}
