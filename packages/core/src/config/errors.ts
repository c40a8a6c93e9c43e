import { revealInvisible } from "../infrastructure/text/unicode.ts";

/** A location in a text; both numbers start at 1, columns are UTF-16 units. */
export interface TextLocation {
  line: number;
  column: number;
}

/** One problem of the configuration. */
export interface ConfigProblem {
  /** The file's path, or `environment variable NAME`. */
  source: string;
  location?: TextLocation;
  /** Such as `provider.openai.baseUrl` or `permissions[2].action`. */
  key?: string;
  /** The problem, without its location. */
  message: string;
}

/** A warning about a usable configuration. */
export interface ConfigWarning {
  code: string;
  message: string;
}

const MAX_LISTED = 20;

/** The configuration cannot be used. `message` has one line for each problem, at most 20, with its location. */
export class ConfigError extends Error {
  override name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.slice(0, MAX_LISTED).map(formatProblem);
    if (problems.length > MAX_LISTED) lines.push(`and ${problems.length - MAX_LISTED} more`);
    super(lines.join("\n"));
    this.problems = problems;
  }
}

/** `FILE:LINE:COLUMN: key "x.y": what is wrong` */
export function formatProblem({ source, location, key, message }: ConfigProblem): string {
  const file = revealInvisible(source);
  const where = location === undefined ? file : `${file}:${location.line}:${location.column}`;
  return key === undefined ? `${where}: ${message}` : `${where}: key "${key}": ${message}`;
}

/** A function that finds the line and column of an offset in `text`, efficient for many calls. */
export function createLocationFinder(text: string): (offset: number) => TextLocation {
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return (offset) => {
    let line = 0;
    let end = lineStarts.length;
    while (end - line > 1) {
      const middle = (line + end) >> 1;
      if ((lineStarts[middle] ?? 0) <= offset) line = middle;
      else end = middle;
    }
    return { line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1 };
  };
}

const MAX_NAME_CHARS = 60;

/** The displayed name of a setting: `provider.compatible.local.models[0]`. */
export function formatKey(path: readonly PropertyKey[]): string {
  return path.reduce<string>((whole, part) => {
    if (typeof part === "number") return `${whole}[${part}]`;
    const name = String(part);
    const isPlain = /^[$\w-]+$/.test(name) && name.length <= MAX_NAME_CHARS;
    if (!isPlain) return `${whole}[${JSON.stringify(cut(name))}]`;
    return whole === "" ? name : `${whole}.${name}`;
  }, "");
}

function cut(name: string): string {
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name;
}
