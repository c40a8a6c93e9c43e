import { matchesCall } from "./match-command.ts";

/** Calls that add a dependency when they name one. */
const ADDING: readonly string[] = [
  ...[
    "npm install",
    "npm i",
    "npm add",
    "npm in",
    "npm isntall",
    "yarn add",
    "pnpm add",
    "pnpm install",
    "pnpm i",
    "bun add",
    "bun install",
    "bun i",
    "bun a",
  ],
  ...[
    "pip install",
    "pip3 install",
    "uv add",
    "uv pip install",
    "poetry add",
    "pdm add",
    "pipenv install",
    "conda install",
    "rye add",
    "hatch add",
    "cargo add",
    "go get",
    "bundle add",
    "gem install",
  ],
  ...[
    "composer require",
    "dotnet add",
    "mix deps.get",
    "flutter pub add",
    "dart pub add",
    "deno add",
    "jsr add",
    "swift package add-dependency",
    "npm pkg set",
    "pnpm pkg set",
    "bun pm pkg set",
    "expo install",
    "ng add",
  ],
];

/** True for a call that adds a dependency of the project. */
export function addsDependency(words: readonly string[]): boolean {
  if (matchesCall({ words }, { words: ["go", "mod", "edit"] }))
    return words.some((word) => /^--?require(?:=|$)/.test(word));
  const python = /^python\d?$/.test(words[0] ?? "") && words[1] === "-m" && words[2] === "pip";
  const call = { words: python ? words.slice(2) : words };
  const found = ADDING.find((text) => matchesCall(call, { words: text.split(" ") }));
  if (found === undefined) return false;
  const names = found.split(" ");
  const last = names.at(-1) ?? "";
  const rest = call.words.slice(call.words.indexOf(last) + 1);
  if (found.endsWith("pkg set"))
    return rest.some((word) => /^(?:dev|peer|optional)?dependencies\./i.test(word));
  if (rest.some((word) => /^(?:-g|--global)$/.test(word))) return false;
  return rest.some(
    (word, index) =>
      isPackage(word) &&
      !/^(?:-r|--requirement|-c|--constraint|-e|--editable|-C|--prefix|--cwd|--dir|-w|--workspace|--filter|-F|--registry|-i|--index-url|--python|-p|--package|--group|--target|-t|--manifest-path|--cache|--loglevel)$/.test(
        rest[index - 1] ?? "",
      ),
  );
}

/** Not an option, and not the project itself. */
function isPackage(word: string): boolean {
  return !word.startsWith("-") && !/^(?:\.{1,2}|\.{1,2}\/.*|\/.*)(?:\[.*\])?$/.test(word) && word !== "";
}

/** Files that list the dependencies of a project. */
export const MANIFEST =
  /(?:^|\/)(?:package\.json|requirements[\w.-]*\.txt|pyproject\.toml|Cargo\.toml|go\.mod|Gemfile|Pipfile|composer\.json|pubspec\.yaml|build\.gradle(?:\.kts)?|pom\.xml)$/;

/** The names of dependencies that a file lists; undefined if it cannot be read. */
export function listDependencies(path: string, text: string): Set<string> | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === "package.json" || name === "composer.json") return listInJson(text);
  const names = new Set<string>();
  let section = "";
  for (const raw of text.split("\n")) {
    const line = raw.replace(/(?:#|\/\/).*$/, "").trim();
    const heading = /^\[+([^\]]+)\]+$/.exec(line)?.[1];
    if (heading !== undefined) {
      section = heading;
      const inline = /dependencies\.([\w-]+)$/.exec(heading)?.[1];
      if (inline !== undefined) names.add(inline);
      continue;
    }
    for (const found of findNames(name, line, section)) names.add(found.toLowerCase());
  }
  return names;
}

function findNames(file: string, line: string, section: string): string[] {
  const first = (pattern: RegExp) => [...line.matchAll(pattern)].flatMap(([, found]) => found ?? []);
  if (/^requirements/.test(file)) return first(/^([A-Za-z0-9][\w.-]*)/g);
  if (file === "go.mod") return first(/^(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+)\s+v/g);
  if (file === "Gemfile") return first(/^gem\s+["']([^"']+)/g);
  if (file === "pom.xml") return first(/<artifactId>([^<]+)/g);
  if (/^build\.gradle/.test(file))
    return first(
      /^(?:implementation|api|compileOnly|runtimeOnly|testImplementation|annotationProcessor)[\s(]+["']([^"']+?)(?::[\d.]+)?["']/g,
    );
  if (/dependencies|packages/.test(section)) return first(/^["']?([\w.@/-]+)["']?\s*=/g);
  // `dependencies = ["requests>=2"]` of pyproject.toml, on one line or several.
  return section === "project" || /optional-dependencies|dependency-groups/.test(section)
    ? first(/["']([A-Za-z0-9][\w.-]*)(?=[\s<>=!~[;"'])/g)
    : [];
}

function listInJson(text: string): Set<string> | undefined {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document !== "object" || document === null) return undefined;
    const lists = Object.entries(document).filter(([key]) =>
      /^(?:(?:dev|peer|optional)?dependencies|require(?:-dev)?)$/i.test(key),
    );
    return new Set(
      lists.flatMap(([, list]) => (typeof list === "object" && list !== null ? Object.keys(list) : [])),
    );
  } catch {
    return undefined;
  }
}
