import { fileURLToPath } from "node:url";

/** What a call of a server's tool concerns, as far as its arguments show it. */
export interface NamedByCall {
  /** As written. */
  paths: readonly string[];
  /** Lines of a shell. */
  commands: readonly string[];
  /** True if the tool's name says that it only reads. */
  isReading: boolean;
}

const PATH_NAME =
  /^(?:(?:file|source|src|destination|dest|target|old|new|input|output|from|to|relative|absolute|local|root|dir|directory|base|repo)?_?(?:path|file|filename|files|paths|uri|dir|directory)s?|source|destination|target)$/;
const COMMAND_NAME = /^(?:command|cmd|command_?line|shell|script|bash)$/;
const READING =
  /(?:^|_)(?:read|get|list|search|find|stat|view|show|info|tree|head|tail|grep|glob|fetch|describe|query|diff|status|log|cat)(?:_|$)/;
const CHANGING =
  /(?:^|_)(?:write|edit|create|delete|remove|move|rename|copy|update|replace|insert|append|patch|apply|save|put|set|modify|change|make|mkdir|touch|format|fix|generate|commit|run|exec|execute)(?:_|$)/;
// More would be data, not names of files.
const MAX_VALUES = 100;
const MAX_PATH = 4_096;

/** Reads a call of `mcp__SERVER__TOOL` or of `mcp_call`; undefined for any other tool. */
export function readServerCall(
  toolName: string,
  input: Readonly<Record<string, unknown>>,
): NamedByCall | undefined {
  const name = toolName === "mcp_call" && typeof input.tool === "string" ? input.tool : toolName;
  const given = toolName === "mcp_call" ? input.input : input;
  if (toolName !== "mcp_call" && !toolName.startsWith("mcp__")) return undefined;
  const tool = toWords(name.replace(/^mcp__.*?__/, ""));
  const found = { paths: [] as string[], commands: [] as string[] };
  collect(typeof given === "string" ? parse(given) : given, found, 0);
  return { ...found, isReading: READING.test(tool) && !CHANGING.test(tool) };
}

function collect(value: unknown, found: { paths: string[]; commands: string[] }, depth: number): void {
  if (typeof value !== "object" || value === null || depth > 3) return;
  for (const [key, each] of Object.entries(value)) {
    if (found.paths.length + found.commands.length > MAX_VALUES) return;
    const name = toWords(key);
    const texts = [each].flat().filter((text): text is string => typeof text === "string" && text !== "");
    if (PATH_NAME.test(name)) found.paths.push(...texts.flatMap(toPath));
    else if (COMMAND_NAME.test(name) && texts.length > 0) found.commands.push(texts.join(" "));
    // Also in a list, such as `files` with a path each.
    collect(each, found, depth + 1);
  }
}

function toPath(text: string): string[] {
  if (text.length > MAX_PATH || text.includes("\n")) return [];
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return [text];
  try {
    return [fileURLToPath(text)];
  } catch {
    return []; // An address of something else.
  }
}

/** `createFile` and `create-file` are `create_file`. */
function toWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Then the call fails before it reaches the server.
  }
}
