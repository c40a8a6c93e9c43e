import { join } from "node:path";
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type CheckedFile, entryExists, readCheckedFile } from "../infrastructure/fs/read.ts";
import { isInside } from "../infrastructure/fs/real-path.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { systemErrorText } from "../infrastructure/system-error.ts";
import { decodeUtf8, NotUtf8Error } from "../infrastructure/text/text-file.ts";
import {
  ConfigError,
  type ConfigProblem,
  type ConfigWarning,
  createLocationFinder,
  formatKey,
  type TextLocation,
} from "./errors.ts";
import { CONFIG_NAMES, holdsVariable, substituteVariables } from "./settings.ts";

type Path = readonly (string | number)[];

/** How texts with `{env:…}` are handled: replaced, left out together with their setting, or kept. */
export type VariableUse =
  | { kind: "fill"; environment: Environment }
  | { kind: "leave_out" }
  | { kind: "keep" };

/** A setting of the file: its position and its value. */
interface SettingLocation extends NamedLocation {
  value: unknown;
}

interface NamedLocation {
  /** Its name in the file; differs from its path in `value` when earlier list elements were left out. */
  key: string;
  /** Offset of the value. */
  offset: number;
  /** Offset of the name; that of the value for an element of a list. */
  nameOffset: number;
}

/** A configuration file's text as data, with the positions in the text. */
export interface ConfigDocument {
  source: string;
  value: unknown;
  locations: ReadonlyMap<string, SettingLocation>;
  locate(offset: number): TextLocation;
  /** Names that occur twice in one object; the last one counts. */
  duplicates: readonly NamedLocation[];
  /** Settings that were left out because of an `{env:…}` in them. */
  leftOut: readonly string[];
  /** Variables that are not set, with the settings that use them. */
  unset: ReadonlyMap<string, readonly string[]>;
}

/** Either a document, or problems with their locations in the text. */
type DocumentReading = { document: ConfigDocument } | { problems: ConfigProblem[] };

/** Reads a text as JSONC. `source` names it in problems. */
export function readDocument(text: string, source: string, variables: VariableUse): DocumentReading {
  const locate = createLocationFinder(text);
  const parsed = parseText(text);
  if ("fault" in parsed) {
    return { problems: [{ source, location: locate(parsed.fault.offset), message: parsed.fault.message }] };
  }
  const reader = new NodeReader(variables);
  const value = reader.read(parsed.root, { path: [], key: [], nameOffset: parsed.root.offset });
  if (reader.forbidden.length > 0) {
    const message = "no setting can have this name";
    return {
      problems: reader.forbidden.map(({ key, nameOffset }) => ({
        source,
        location: locate(nameOffset),
        key,
        message,
      })),
    };
  }
  const { locations, duplicates, leftOut, unset } = reader;
  return { document: { source, value, locate, locations, duplicates, leftOut, unset } };
}

/** The position of a node: in the resulting value, and under its name in the file. */
interface Position {
  path: Path;
  key: Path;
  nameOffset: number;
}

class NodeReader {
  readonly locations = new Map<string, SettingLocation>();
  readonly duplicates: NamedLocation[] = [];
  readonly forbidden: NamedLocation[] = [];
  readonly leftOut: string[] = [];
  readonly unset = new Map<string, string[]>();

  constructor(private readonly variables: VariableUse) {}

  read(node: TextNode, position: Position): unknown {
    const value = this.readValue(node, position);
    this.locations.set(formatKey(position.path), { ...toNamedLocation(node, position), value });
    return value;
  }

  private readValue(node: TextNode, position: Position): unknown {
    if (node.type === "object") return this.readObject(node, position);
    if (node.type === "array") return this.readArray(node, position);
    const value: unknown = node.value;
    return typeof value === "string" ? this.fill(value, position) : value;
  }

  private readObject(node: TextNode, { path, key }: Position): Record<string, unknown> {
    const members = new Map<string, { valueNode: TextNode; position: Position }>();
    for (const { children: [nameNode, valueNode] = [] } of node.children ?? []) {
      if (nameNode === undefined || valueNode === undefined) continue;
      const name = String(nameNode.value);
      const position = { path: [...path, name], key: [...key, name], nameOffset: nameNode.offset };
      if (name === "__proto__") this.forbidden.push(toNamedLocation(valueNode, position));
      else if (members.has(name)) this.duplicates.push(toNamedLocation(valueNode, position));
      members.set(name, { valueNode, position });
    }
    // Without a prototype, `constructor` and the like are ordinary names.
    const object: Record<string, unknown> = Object.create(null);
    for (const [name, { valueNode, position }] of members) {
      if (!this.leavesOut(valueNode, position)) object[name] = this.read(valueNode, position);
    }
    return object;
  }

  private readArray(node: TextNode, { path, key }: Position): unknown[] {
    const elements: unknown[] = [];
    for (const [index, child] of (node.children ?? []).entries()) {
      const position = { path: [...path, elements.length], key: [...key, index], nameOffset: child.offset };
      if (!this.leavesOut(child, position)) elements.push(this.read(child, position));
    }
    return elements;
  }

  private fill(text: string, { key }: Position): string {
    if (this.variables.kind !== "fill") return text;
    return substituteVariables(text, this.variables.environment, (name) => {
      const keys = this.unset.get(name);
      if (keys) keys.push(formatKey(key));
      else this.unset.set(name, [formatKey(key)]);
    });
  }

  private leavesOut(node: TextNode, { key }: Position): boolean {
    if (this.variables.kind !== "leave_out") return false;
    const isText = node.type === "string" && holdsVariable(String(node.value));
    if (!isText && !(isWhole(key) && holdsVariableWithin(node))) return false;
    this.leftOut.push(formatKey(key));
    return true;
  }
}

function toNamedLocation(node: TextNode, { key, nameOffset }: Position): NamedLocation {
  return { key: formatKey(key), offset: node.offset, nameOffset };
}

/** Elements of lists and compatible servers have required settings, so they are left out as a whole. */
function isWhole(key: Path): boolean {
  return (
    typeof key.at(-1) === "number" || (key.length === 3 && key[0] === "provider" && key[1] === "compatible")
  );
}

function holdsVariableWithin(node: TextNode): boolean {
  if (node.type === "string") return holdsVariable(String(node.value));
  if (node.type === "property") return node.children?.slice(1).some(holdsVariableWithin) ?? false;
  return node.children?.some(holdsVariableWithin) ?? false;
}

/** A node of a syntax tree without faults. */
export type TextNode = Node;

/** `offset` is in UTF-16 units from the start of the text; `message` does not contain the location. */
interface TextFault {
  offset: number;
  message: string;
}

/** Deeper than any setting. The parser recurses, and a text of nothing but brackets would overflow its stack. */
const MAX_DEPTH = 32;

const FAULTS: Readonly<Record<string, string>> = {
  InvalidSymbol: "Invalid JSON: keys and strings must be double-quoted",
  InvalidNumberFormat: "not a valid number",
  PropertyNameExpected: "expected a name in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: "expected a colon",
  CommaExpected: "expected a comma",
  CloseBraceExpected: "missing closing }",
  CloseBracketExpected: "missing closing ]",
  EndOfFileExpected: "unexpected text after the end",
  InvalidCommentToken: "comments are not allowed here",
  UnexpectedEndOfComment: "unterminated comment",
  UnexpectedEndOfString: "this string has no closing double quote",
  UnexpectedEndOfNumber: "incomplete number",
  InvalidUnicode: "this string contains a \\u without four hexadecimal digits",
  InvalidEscapeCharacter: "this string contains an unknown escape after \\",
  InvalidCharacter: "this string contains a control character",
};

/**
 * The syntax tree of a JSONC text, comments and trailing commas allowed, whose root is an object; or its first fault.
 * Later faults are mostly consequences of the first, so they are not reported.
 */
export function parseText(text: string): { root: TextNode } | { fault: TextFault } {
  const depth = findTooDeep(text);
  if (depth !== undefined)
    return { fault: { offset: depth, message: `nested deeper than ${MAX_DEPTH} levels` } };
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const first = errors.toSorted((left, right) => left.offset - right.offset)[0];
  if (first) return { fault: { offset: first.offset, message: describeFault(first) } };
  if (root === undefined)
    return {
      fault: { offset: 0, message: "the file is empty; a configuration without settings is {}" },
    };
  if (root.type !== "object") return { fault: { offset: root.offset, message: "expected an object in { }" } };
  return { root };
}

function describeFault({ error }: ParseError): string {
  return FAULTS[printParseErrorCode(error)] ?? "Invalid JSON";
}

// The kinds of brackets as the scanner counts them; its enumeration exists only for the compiler.
const OPENING: ReadonlySet<number> = new Set([1, 3]);
const CLOSING: ReadonlySet<number> = new Set([2, 4]);
const END = 17;

function findTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    if (OPENING.has(token)) depth++;
    else if (CLOSING.has(token)) depth--;
    if (depth > MAX_DEPTH) return scanner.getTokenOffset();
  }
  return undefined;
}

/** Warnings about a file that is usable. */
export function describeDocument({ source, duplicates, unset, locate }: ConfigDocument): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  if (duplicates.length > 0) {
    const names = duplicates.map(({ key, nameOffset }) => {
      const { line, column } = locate(nameOffset);
      return `"${key}" (${line}:${column})`;
    });
    const message = `${source}: set more than once (the last value applies): ${listSome(names)}`;
    warnings.push({ code: "duplicate_key", message });
  }
  if (unset.size > 0) {
    const names = [...unset].map(([name, keys]) => `${name} (in ${listSome(keys)})`);
    const message = `${source}: unset environment variables count as empty: ${listSome(names)}`;
    warnings.push({ code: "unset_variable", message });
  }
  return warnings;
}

/** One warning for all unknown settings. */
export function describeSkipped(source: string, skipped: readonly ConfigProblem[]): ConfigWarning[] {
  if (skipped.length === 0) return [];
  const names = skipped.map(({ key, location, message }) => {
    const [, nearest] = /did you mean (.*)\?$/.exec(message) ?? [];
    const hint = nearest === undefined ? "" : `, did you mean ${nearest}?`;
    return `"${key}" (${location?.line}:${location?.column}${hint})`;
  });
  const message = `${source}: unknown settings were skipped: ${listSome(names)}`;
  return [{ code: "unknown_keys", message }];
}

const MAX_LISTED = 50;

/** Joins names with commas; long lists are truncated so that one bad file does not fill the screen. */
export function listSome(names: readonly string[]): string {
  const rest = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** Far above any configuration; a larger file is not a configuration. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** A configuration file as it was read; `sha256` (hexadecimal) is that of its bytes. */
export interface ConfigFile {
  path: string;
  name: string;
  realPath: string;
  text: string;
  sha256: string;
  /** The reason why another user could have written it. */
  concern: string | undefined;
  isOpenToOthers: boolean;
}

/** A project's file outside the project is not read at all; `reason` fits after "is not loaded:". */
type ProjectFileReading =
  | { kind: "none" }
  | { kind: "refused"; path: string; reason: string }
  | { kind: "file"; file: ConfigFile };

/**
 * Reads `diligent.jsonc` or `diligent.json` in a directory; undefined without either.
 * @throws ConfigError if the file is unreadable, not text or too large, and if both exist.
 */
export async function readConfigFile(directory: string): Promise<ConfigFile | undefined> {
  const name = findName(directory);
  return name === undefined ? undefined : toConfigFile(name, await readFile(join(directory, name)));
}

/** Reads a project's file, which must not be a link to a file outside the project. */
export async function readProjectFile(root: string): Promise<ProjectFileReading> {
  const name = findName(root);
  if (name === undefined) return { kind: "none" };
  const file = await readFile(join(root, name));
  if (!isInside(file.realPath, root)) {
    return {
      kind: "refused",
      path: file.path,
      reason: `it is a link to ${file.realPath}, outside the project`,
    };
  }
  return { kind: "file", file: toConfigFile(name, file) };
}

function findName(directory: string): string | undefined {
  const paths = CONFIG_NAMES.map((name) => ({ name, path: join(directory, name) }));
  const found = paths.filter(({ path }) => isThereOrFail(path));
  const [first, second] = found;
  if (first && second) {
    const message = `${second.path} exists too; keep one of them`;
    throw new ConfigError([{ source: first.path, message }]);
  }
  return first?.name;
}

function isThereOrFail(path: string): boolean {
  try {
    return entryExists(path);
  } catch (error) {
    throw unreadable(path, systemErrorText(error));
  }
}

async function readFile(path: string): Promise<CheckedFile> {
  const reading = await readCheckedFile(path, MAX_CONFIG_BYTES + 1);
  if (reading.kind === "missing") throw unreadable(path, "it was deleted meanwhile");
  if (reading.kind === "unreadable") throw unreadable(path, reading.reason);
  return reading.file;
}

function toConfigFile(name: string, { content, ...file }: CheckedFile): ConfigFile {
  if (file.size > MAX_CONFIG_BYTES)
    throw unreadable(file.path, `it is larger than ${MAX_CONFIG_BYTES} bytes`);
  const { path, realPath, concern, isOpenToOthers } = file;
  const sha256 = Bun.SHA256.hash(content, "hex");
  return { path, name, realPath, text: decode(content, path), sha256, concern, isOpenToOthers };
}

function decode(content: Uint8Array, path: string): string {
  try {
    return decodeUtf8(content).text;
  } catch (error) {
    if (error instanceof NotUtf8Error) throw unreadable(path, `it must be UTF-8, but is ${error.message}`);
    throw error;
  }
}

function unreadable(path: string, reason: string): ConfigError {
  const problem: ConfigProblem = { source: path, message: `the configuration cannot be read: ${reason}` };
  return new ConfigError([problem]);
}
