import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A fresh home directory and a fresh project, which is a repository of its own, both below one directory. */
export interface TemporaryProject {
  top: string;
  home: string;
  project: string;
  /** Where the programs that are tested put their temporary files. */
  temporary: string;
  /** Writes a file of the project and returns its path. */
  write(path: string, content: string | object): string;
  remove(): void;
}

export function createTemporaryProject(): TemporaryProject {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "diligent-test-")));
  const [home, project, temporary] = [join(top, "home"), join(top, "project"), join(top, "tmp")];
  for (const directory of [home, join(project, ".git"), temporary]) mkdirSync(directory, { recursive: true });
  return {
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
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
}
