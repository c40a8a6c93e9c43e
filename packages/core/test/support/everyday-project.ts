import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface EverydayProject extends Disposable {
  /** The project's root, real. */
  root: string;
  /** The directory the project lies in. */
  top: string;
}

const FILES: Readonly<Record<string, string>> = {
  "app/package.json": '{"name": "app", "version": "1.0.0"}\n',
  "app/README.md": "# An app\n",
  "app/.gitignore": "node_modules\n",
  "app/.github/workflows/ci.yml": "on: push\n",
  "app/docs/a file.md": "text\n",
  "app/src/main.ts": "export function main() {}\n",
  "app/src/lib/util.ts": "export const util = 1;\n",
  "app/test/main.test.ts": "// TODO\n",
  "outside.txt": "outside\n",
  "elsewhere/passwd": "outside\n",
};

const HOSTILE_FILES: Readonly<Record<string, string>> = {
  "app/.env": "KEY=1\n",
  "app/config/server.pem": "KEY\n",
  "app/config/id_rsa": "KEY\n",
  "app/options/-oCANARY": "",
  "app/options/--pre=.evil": "",
};

/** A small project to run commands in; with `isHostile` it holds secrets, links that lead out and file names like options. */
export function createEverydayProject({ isHostile }: { isHostile: boolean }): EverydayProject {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "everyday-project-")));
  const files = isHostile ? { ...FILES, ...HOSTILE_FILES } : FILES;
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), content);
  }
  const root = join(top, "app");
  if (isHostile) {
    symlinkSync(join(top, "elsewhere"), join(root, "link-out"));
    symlinkSync(join(top, "outside.txt"), join(root, "link-to-outside-file"));
    symlinkSync(join(top, "not-there"), join(root, "dangling-link"));
  }
  return { root, top, [Symbol.dispose]: () => rmSync(top, { recursive: true, force: true }) };
}
