import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryBase } from "../../../core/test/support/temp-dir.ts";

/** A new home directory and a new project, which is a separate repository, both below one directory. */
export interface TemporaryProject {
  top: string;
  home: string;
  project: string;
  /** The directory for temporary files of the tested programs. */
  temporary: string;
  /** Writes a file of the project and returns its path. */
  write(path: string, content: string | object): string;
  /** Writes the user's own configuration. */
  configure(config: object): void;
  remove(): void;
}

export interface TemporaryProjectOptions {
  /** Without a sandbox, commands ask, which tests of questions need. Default: as configured. */
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
