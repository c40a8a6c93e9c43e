import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryBase } from "../../../core/test/support/temp-dir.ts";

/** A fresh home directory and a fresh project, which is a repository of its own, both below one directory. */
export interface TemporaryProject {
  top: string;
  home: string;
  project: string;
  /** Where the programs that are tested put their temporary files. */
  temporary: string;
  /** Writes a file of the project and returns its path. */
  write(path: string, content: string | object): string;
  /** Writes the user's own configuration. */
  configure(config: object): void;
  remove(): void;
}

export interface TemporaryProjectOptions {
  /** Where nobody is in a box, commands ask: what a test of asking wants. As a user has it when left out. */
  sandbox?: "off";
}

export function createTemporaryProject({ sandbox }: TemporaryProjectOptions = {}): TemporaryProject {
  const top = realpathSync(mkdtempSync(join(temporaryBase(), "diligent-test-")));
  const [home, project, temporary] = [join(top, "home"), join(top, "project"), join(top, "tmp")];
  for (const directory of [home, join(project, ".git"), temporary]) mkdirSync(directory, { recursive: true });
  const place: TemporaryProject = {
    top,
    home,
    project,
    temporary,
    write(path, content) {
      const absolute = join(project, path);
      mkdirSync(dirname(absolute), { recursive: true });
      writeFileSync(absolute, typeof content === "string" ? content : JSON.stringify(content));
      return absolute;
    },
    configure(config) {
      const path = join(home, ".config", "diligent", "diligent.jsonc");
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, JSON.stringify(config));
    },
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
  if (sandbox) place.configure({ sandbox });
  return place;
}
