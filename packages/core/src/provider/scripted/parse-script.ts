import { realpath } from "node:fs/promises";
import type { z } from "zod";
import { openRegularFile } from "../../infrastructure/fs/read.ts";
import { nearestName } from "../../infrastructure/nearest-name.ts";
import { systemErrorCode, systemErrorText } from "../../infrastructure/system-error.ts";
import { decodeUtf8 } from "../../infrastructure/text/text-file.ts";
import { asRecord } from "../wire-format.ts";
import { numberToolCalls } from "./reply.ts";
import { type Script, scriptJsonSchema, scriptSchema } from "./script.ts";

type Path = readonly PropertyKey[];

/**
 * Reads a script from the file at `path`.
 *
 * @throws Error with one line for the user: the file, the position, and what is wrong.
 */
export async function readScript(path: string): Promise<Script> {
  return parseScript(readText(await readBytes(path), path), path);
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const { handle } = await openRegularFile(await realpath(path));
    return await handle.readFile().finally(() => handle.close());
  } catch (error) {
    const isPlain = systemErrorCode(error) === undefined && error instanceof Error;
    const reason = isPlain ? error.message : `Cannot read ${path}: ${systemErrorText(error)}.`;
    throw new Error(`Cannot open the script: ${reason}`, { cause: error });
  }
}

function readText(bytes: Uint8Array, path: string): string {
  try {
    return decodeUtf8(bytes).text;
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot open the script: ${path} is not valid JSON: ${found}.`, { cause: error });
  }
}

/**
 * Parses the script in `text`. `path` is used in messages only.
 *
 * @throws Error with one line for the user: file, line, column and JSON path, what is wrong and what was expected.
 */
export function parseScript(text: string, path: string): Script {
  const json = text.startsWith("\uFEFF") ? text.slice(1) : text;
  // Most processes read one script: generating code for its parser takes longer than that.
  const parsed = scriptSchema.safeParse(parseJson(json, path), { jitless: true });
  if (!parsed.success) throw new Error(describeIssues(parsed.error, { json, path }));
  const clash = findIdClash(parsed.data);
  if (clash) throw new Error(`${placeIn({ json, path }, clash.path)}${clash.message}`);
  return parsed.data;
}

function parseJson(json: string, path: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const fault = findJsonSyntaxError(json);
    const place = fault ? `:${fault.line}:${fault.column}` : "";
    const wanted = fault ? `expected ${fault.expected}` : String(error);
    throw new Error(`${path}${place}: not valid JSON: ${wanted}.`, { cause: error });
  }
}

interface Source {
  json: string;
  path: string;
}

/** The first problem. An unknown field comes first, since it usually explains a missing one. */
function describeIssues({ issues }: z.ZodError, source: Source): string {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (!issue) return `${source.path}: not a script.`;
  const others = issues.length > 1 ? ` (${issues.length - 1} more after it)` : "";
  if (issue.code !== "unrecognized_keys") {
    return `${placeIn(source, issue.path)}${describeValue(issue, source)}${others}`;
  }
  const key = issue.keys[0] ?? "";
  const known = knownFields(issue.path);
  const nearest = nearestName(key, known);
  const hint = nearest ? `did you mean ${JSON.stringify(nearest)}?` : `known are ${known.join(", ")}.`;
  return `${placeIn(source, [...issue.path, key])}unknown field ${JSON.stringify(key)}; ${hint}${others}`;
}

function describeValue(issue: z.core.$ZodIssue, source: Source): string {
  if (issue.path.length > 0 && !findJsonValue(source.json, issue.path)) return "this field is missing";
  return issue.message.replace(/^(?:Invalid (?:input|option|string)|Too (?:small|big)): /, "");
}

/** `FILE:LINE:COLUMN: turns[3].toolCalls[0].name: ` */
function placeIn({ json, path }: Source, at: Path): string {
  const position = findJsonValue(json, at) ?? findJsonValue(json, at.slice(0, -1));
  const place = position ? `:${position.line}:${position.column}` : "";
  return at.length > 0 ? `${path}${place}: ${formatPath(at)}: ` : `${path}${place}: `;
}

function formatPath(path: Path): string {
  return path.reduce<string>((whole, key) => {
    if (typeof key === "number") return `${whole}[${key}]`;
    const name = String(key);
    if (!/^[$\w]+$/.test(name)) return `${whole}[${JSON.stringify(name)}]`;
    return whole === "" ? name : `${whole}.${name}`;
  }, "");
}

/** The fields of the object at `path`, from the published schema. */
function knownFields(path: Path): string[] {
  let schema: unknown = scriptJsonSchema();
  for (const key of path) {
    schema =
      typeof key === "number" ? field(schema, "items") : field(field(schema, "properties"), String(key));
  }
  return Object.keys(asRecord(field(schema, "properties"))).filter((name) => name !== "$schema");
}

function field(value: unknown, name: string): unknown {
  const record = asRecord(value);
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Finds two calls with the same id: they would make every later request invalid. */
function findIdClash(script: Script): { path: Path; message: string } | undefined {
  const { turns, summaries = [] } = numberToolCalls(script);
  const places = new Map<string, Path>();
  for (const [list, numbered] of Object.entries({ turns, summaries })) {
    for (const [turnIndex, { turn, callIds }] of numbered.entries()) {
      for (const [callIndex, id] of callIds.entries()) {
        const path = turn.events ? [list, turnIndex, "events"] : [list, turnIndex, "toolCalls", callIndex];
        const first = places.get(id);
        if (first)
          return { path, message: `its id ${JSON.stringify(id)} is also that of ${formatPath(first)}` };
        places.set(id, path);
      }
    }
  }
  return undefined;
}

/** A position in a text; lines and columns count from 1, columns in UTF-16 units. */
interface TextPosition {
  line: number;
  column: number;
}

/** What the JSON grammar allows next. */
type Expected =
  | "a value"
  | "a value or ]"
  | "a name in double quotes"
  | "a name in double quotes or }"
  | ":"
  | ", or }"
  | ", or ]"
  | "the end of the file";

interface Token {
  kind: "{" | "}" | "[" | "]" | ":" | "," | "string" | "literal" | "end" | "invalid";
  start: number;
  end: number;
  /** For an invalid token: what is expected at `start`. */
  expected?: string;
}

/** An open container, and the name or index of the member that is being read. */
interface Level {
  open: "{" | "[";
  key: string | number;
}

/** The first syntax error in `text`, and what was expected there. The runtime's own parser reports no position. */
function findJsonSyntaxError(text: string): (TextPosition & { expected: string }) | undefined {
  const fault = scan(text, () => false);
  return fault && { ...positionAt(text, fault.start), expected: fault.expected };
}

/** The position of the value at `path`; undefined if the JSON in `text` has no such value. */
function findJsonValue(text: string, path: readonly PropertyKey[]): TextPosition | undefined {
  let found: number | undefined;
  scan(text, (levels, start) => {
    const isHere = levels.length === path.length && levels.every(({ key }, index) => key === path[index]);
    if (isHere) found = start;
    return isHere;
  });
  return found === undefined ? undefined : positionAt(text, found);
}

/**
 * Scans to the first error, or until `visit`, called for each value, returns true. Uses an explicit stack, so any
 * nesting depth works.
 */
function scan(
  text: string,
  visit: (levels: readonly Level[], start: number) => boolean,
): { start: number; expected: string } | undefined {
  const levels: Level[] = [];
  let expected: Expected = "a value";
  for (let from = 0; ; ) {
    const token = readToken(text, from);
    from = token.end;
    const isValue = expected.startsWith("a value") && token.kind !== "]" && token.kind !== "invalid";
    if (isValue && visit(levels, token.start)) return undefined;
    if (token.kind === "end" && expected === "the end of the file") return undefined;
    const next = advance(levels, expected, { ...token, text });
    if (!next) return { expected, ...token };
    expected = next;
  }
}

function advance(levels: Level[], expected: Expected, token: Token & { text: string }): Expected | undefined {
  switch (expected) {
    case "a value":
    case "a value or ]":
      if (token.kind === "]" && expected === "a value or ]") return close(levels);
      return beginValue(levels, token.kind);
    case "a name in double quotes":
    case "a name in double quotes or }":
      if (token.kind === "}" && expected === "a name in double quotes or }") return close(levels);
      if (token.kind !== "string") return undefined;
      setKey(levels, String(JSON.parse(token.text.slice(token.start, token.end))));
      return ":";
    case ":":
      return token.kind === ":" ? "a value" : undefined;
    case ", or }":
      if (token.kind === "}") return close(levels);
      return token.kind === "," ? "a name in double quotes" : undefined;
    case ", or ]":
      if (token.kind === "]") return close(levels);
      return token.kind === "," ? nextItem(levels) : undefined;
    case "the end of the file":
      return undefined;
  }
}

function beginValue(levels: Level[], kind: Token["kind"]): Expected | undefined {
  if (kind === "string" || kind === "literal") return afterValue(levels);
  if (kind !== "{" && kind !== "[") return undefined;
  levels.push({ open: kind, key: 0 });
  return kind === "{" ? "a name in double quotes or }" : "a value or ]";
}

function afterValue(levels: readonly Level[]): Expected {
  const level = levels.at(-1);
  if (!level) return "the end of the file";
  return level.open === "{" ? ", or }" : ", or ]";
}

function close(levels: Level[]): Expected {
  levels.pop();
  return afterValue(levels);
}

function setKey(levels: readonly Level[], key: string): void {
  const level = levels.at(-1);
  if (level) level.key = key;
}

function nextItem(levels: readonly Level[]): Expected {
  const level = levels.at(-1);
  if (typeof level?.key === "number") level.key++;
  return "a value";
}

function readToken(text: string, from: number): Token {
  let start = from;
  while (" \t\r\n".includes(text.charAt(start)) && start < text.length) start++;
  const first = text.charAt(start);
  switch (first) {
    case "":
      return { kind: "end", start, end: start };
    case "{":
    case "}":
    case "[":
    case "]":
    case ":":
    case ",":
      return { kind: first, start, end: start + 1 };
    case '"':
      return readString(text, start);
    default:
      return readLiteral(text, start);
  }
}

function readString(text: string, start: number): Token {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') return { kind: "string", start, end: at + 1 };
    if (char < " ") return invalid(at, "\\n or another escape for this control character");
    if (char !== "\\") continue;
    const sequence = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(at, at + 6))?.[0];
    if (!sequence) return invalid(at, "a known escape, or \\\\ for the backslash itself");
    at += sequence.length - 1;
  }
  return invalid(text.length, "the closing double quote of a string");
}

function invalid(start: number, expected: string): Token {
  return { kind: "invalid", start, end: start, expected };
}

function readLiteral(text: string, start: number): Token {
  let end = start;
  while (/[\w+.-]/.test(text.charAt(end))) end++;
  const isLiteral = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(
    text.slice(start, end),
  );
  return { kind: isLiteral ? "literal" : "invalid", start, end };
}

function positionAt(text: string, offset: number): TextPosition {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const line = text.slice(0, lineStart).split("\n").length;
  return { line, column: offset - lineStart + 1 };
}
