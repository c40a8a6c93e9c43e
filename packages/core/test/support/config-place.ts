import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../src/infrastructure/runtime.ts";
import { makeTempDir } from "./temp-dir.ts";

/** A home directory with a project in it that is a repository, and the environment of a user who lives there. */
export interface ConfigPlace {
  home: string;
  project: string;
  environment: Environment;
  /** `diligent.jsonc` of the user and of the project. */
  userFile: string;
  projectFile: string;
  trustFile: string;
}

export function makeConfigPlace(variables: Environment = {}): ConfigPlace {
  const home = makeTempDir();
  const project = join(home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  return {
    home,
    project,
    environment: { HOME: home, ...variables },
    userFile: join(home, ".config", "diligent", "diligent.jsonc"),
    projectFile: join(project, "diligent.jsonc"),
    trustFile: join(home, ".local", "state", "diligent", "trust.json"),
  };
}

/** Writes a file that only this user may read, with the directories above it. An object becomes JSON. */
export function put(path: string, content: string | Uint8Array | object): string {
  mkdirSync(dirname(path), { recursive: true });
  const isText = typeof content === "string" || content instanceof Uint8Array;
  writeFileSync(path, isText ? content : JSON.stringify(content, null, 2), { mode: 0o600 });
  return path;
}
