import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import type { LoadedConfig } from "../../config/loader.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { cleanPath } from "../../infrastructure/process/environment.ts";
import type { Environment } from "../../infrastructure/runtime.ts";

// Decides at the start of a session whether there may be a server: it loads nothing else.

/** The servers of one group of languages; of the programs, the first that the user has is used. */
export interface KnownServer {
  /** As in the setting `lsp`. */
  name: string;
  /** Programs with their arguments. */
  commands: readonly (readonly [program: string, ...args: string[]])[];
  extensions: readonly string[];
  /** Files by which a project of these languages is known, besides those with the extensions. */
  markers?: readonly string[];
  /** What the server is told at its start, as its own documentation names it. */
  initializationOptions?: Readonly<Record<string, unknown>>;
}

const STDIO = "--stdio";

/** In the order in which a file's extension is looked up. */
export const KNOWN_SERVERS: readonly KnownServer[] = [
  {
    name: "typescript",
    commands: [
      // TypeScript from 7 on is a server itself; the others drive the versions before.
      ["tsc", "--lsp", STDIO],
      ["typescript-language-server", STDIO],
      ["vtsls", STDIO],
    ],
    extensions: [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"],
    markers: ["package.json", "tsconfig.json", "jsconfig.json"],
    // It would install packages.
    initializationOptions: { disableAutomaticTypingAcquisition: true },
  },
  {
    name: "python",
    commands: [
      ["basedpyright-langserver", STDIO],
      ["pyright-langserver", STDIO],
      ["pylsp"],
      ["jedi-language-server"],
    ],
    extensions: [".py", ".pyi"],
    markers: ["pyproject.toml", "setup.cfg", "requirements.txt"],
  },
  { name: "go", commands: [["gopls"]], extensions: [".go"], markers: ["go.mod", "go.work"] },
  { name: "rust", commands: [["rust-analyzer"]], extensions: [".rs"], markers: ["Cargo.toml"] },
  {
    name: "json",
    commands: [
      ["vscode-json-language-server", STDIO],
      ["vscode-json-languageserver", STDIO],
    ],
    extensions: [".json", ".jsonc"],
  },
  { name: "yaml", commands: [["yaml-language-server", STDIO]], extensions: [".yaml", ".yml"] },
  {
    name: "css",
    commands: [
      ["vscode-css-language-server", STDIO],
      ["css-languageserver", STDIO],
    ],
    extensions: [".css", ".scss", ".less"],
  },
  {
    name: "html",
    commands: [
      ["vscode-html-language-server", STDIO],
      ["html-languageserver", STDIO],
    ],
    extensions: [".html", ".htm"],
  },
];

/** The directory of a project's own programs, from its root. */
export const PROJECT_PROGRAMS = "node_modules/.bin";

/** True if a server is configured, or one of the known ones may be installed. Called at every start. */
export function mayHaveServers(loaded: LoadedConfig, environment: Environment): boolean {
  const { config, projectRoot } = loaded;
  if (config.lsp === false) return false;
  return (
    Object.keys(config.lsp ?? {}).length > 0 ||
    listProjectPrograms(projectRoot).length > 0 ||
    findServersInPath(loaded, environment).size > 0
  );
}

/** The programs of known servers in the project's own directory, by path; nobody has trusted them yet. */
export function listProjectPrograms(root: string): { name: string; path: string; args: readonly string[] }[] {
  const own = join(root, PROJECT_PROGRAMS);
  if (!existsSync(own)) return [];
  return KNOWN_SERVERS.flatMap(({ name, commands }) =>
    commands
      .map(([program, ...args]) => ({ name, path: join(own, program), args }))
      .filter(({ path }) => existsSync(path)),
  );
}

/** True if the root of a project shows that it has files of a server. */
export function hasLanguage(
  root: string,
  { name, extensions }: Pick<KnownServer, "name" | "extensions">,
): boolean {
  const { markers = [] } = KNOWN_SERVERS.find((known) => known.name === name) ?? {};
  try {
    return readdirSync(root).some((entry) => markers.includes(entry) || extensions.includes(extname(entry)));
  } catch {
    return false;
  }
}

type Commands = ReadonlyMap<string, readonly string[]>;

// A start asks twice, and a search looks for each program in each directory.
const searched = new WeakMap<LoadedConfig, Commands>();

/** By server, the command of the first of its programs that the user has in PATH, outside of the project. */
export function findServersInPath(loaded: LoadedConfig, environment: Environment): Commands {
  const known = searched.get(loaded);
  if (known) return known;
  const root = loaded.projectRoot;
  const directories = new Set(cleanPath(environment.PATH, { root, cwd: root }).split(":"));
  const usable = [...directories].filter(
    (directory) =>
      // Those that package runners put in front belong to a project, too.
      !isInside(directory, root) && !directory.endsWith("/node_modules/.bin") && existsSync(directory),
  );
  const found = new Map<string, readonly string[]>();
  for (const { name, commands } of KNOWN_SERVERS) {
    const command = findCommand(commands, usable);
    if (command !== undefined) found.set(name, command);
  }
  searched.set(loaded, found);
  return found;
}

function findCommand(
  commands: KnownServer["commands"],
  directories: readonly string[],
): readonly string[] | undefined {
  for (const [program, ...args] of commands) {
    const directory = directories.find((each) => isServer(join(each, program)));
    if (directory !== undefined) return [join(directory, program), ...args];
  }
  return undefined;
}

/** True for an executable file that is a server. */
export function isServer(path: string): boolean {
  // Of the many paths that are tried, almost all are missing, and an exception takes longer.
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() && (basename(path) !== "tsc" || hasServer(path));
  } catch {
    return false; // Not executable, or no package of TypeScript.
  }
}

/** True for the compiler of TypeScript 7 and later. */
function hasServer(compiler: string): boolean {
  const manifest = join(dirname(realpathSync(compiler)), "..", "package.json");
  return /"version"\s*:\s*"(?:[7-9]|\d\d)\./.test(readFileSync(manifest, "utf8"));
}
