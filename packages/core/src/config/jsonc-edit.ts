import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { applyEdits, createScanner, type Edit } from "jsonc-parser";
import { updatePrivateFile } from "../infrastructure/fs/private-files.ts";
import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { decodeUtf8, encodeUtf8 } from "../infrastructure/text/text-file.ts";
import { parseText, readConfigFile, type TextNode } from "./document.ts";
import { ConfigError } from "./errors.ts";
import { readConfig } from "./layers.ts";
import type { PermissionRule } from "./schema.ts";
import { CONFIG_NAMES } from "./settings.ts";

// Token kinds of the scanner; its enumeration only exists at compile time.
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const END = 17;

const DEFAULT_UNIT = "  ";

/** Creates the text of a new child; `indent` is the indentation of its line, undefined if it shares a line. */
type ChildText = (layout: { indent: string | undefined; unit: string; lineEnd: string }) => string;

/**
 * Appends a child to a list or object of a JSONC text. Apart from a comma before it, nothing else changes: comments
 * keep their position.
 */
export function appendChild(text: string, container: TextNode, child: ChildText): string {
  const { children = [] } = container;
  const [first, last] = [children[0], children.at(-1)];
  const close = endOf(container) - 1;
  const from = last ? endOf(last) : container.offset + 1;
  const gap = readGap(text, from, close);
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const outer = indentAt(text, container.offset);
  const isOnOwnLine =
    first === undefined || gap.endsInLine || text.slice(container.offset, first.offset).includes("\n");
  const indent = first && isOnOwnLine ? indentAt(text, first.offset) : outer + findUnit(text);
  const written = child({ indent: isOnOwnLine ? indent : undefined, unit: findUnit(text), lineEnd });
  const separator = isOnOwnLine ? lineEnd + indent : " ";
  const comma = gap.comma === undefined ? "" : ",";
  const needsLineEnd = isOnOwnLine && !text.slice(gap.end, close).includes("\n");
  const insertion = separator + written + comma + (needsLineEnd ? lineEnd + outer : "");
  const edits = [{ offset: gap.end, length: 0, content: insertion }];
  if (last && gap.comma === undefined) edits.unshift({ offset: from, length: 0, content: "," });
  return applyEdits(text, edits);
}

/** Removes a child of a list or object from a JSONC text. Comments are kept, even those on the child's own lines. */
export function removeChild(text: string, container: TextNode, index: number): string {
  const { children = [] } = container;
  const child = children[index];
  if (!child) return text;
  const [before, next] = [children[index - 1], children[index + 1]];
  const ownComma = readGap(text, endOf(child), next?.offset ?? endOf(container) - 1).comma;
  const comma = ownComma ?? (before && readGap(text, endOf(before), child.offset).comma);
  const edits: Edit[] = [cutOf(text, child, ownComma)];
  const isCut =
    comma !== undefined && edits.every((cut) => comma < cut.offset || comma >= cut.offset + cut.length);
  if (isCut) edits.push({ offset: comma, length: 1, content: "" });
  return applyEdits(text, edits);
}

/** The child with its lines if nothing else is on them, otherwise with the adjacent white space. */
function cutOf(text: string, child: TextNode, ownComma: number | undefined): Edit {
  const lineStart = text.lastIndexOf("\n", child.offset - 1) + 1;
  const isCommaNext = ownComma !== undefined && text.slice(endOf(child), ownComma).trim() === "";
  const end = isCommaNext ? ownComma + 1 : endOf(child);
  const blanks = /^[ \t]*(\r?\n)?/.exec(text.slice(end));
  const isFirst = text.slice(lineStart, child.offset).trim() === "";
  const isAlone = isFirst && blanks?.[1] !== undefined;
  const after = end + (blanks?.[0].length ?? 0);
  if (isAlone) return { offset: lineStart, length: after - lineStart, content: "" };
  if (ownComma !== undefined || isFirst) {
    const stop = blanks?.[1] === undefined ? after : end;
    return { offset: child.offset, length: stop - child.offset, content: "" };
  }
  const start = lineStart + text.slice(lineStart, child.offset).trimEnd().length;
  return { offset: start, length: end - start, content: "" };
}

interface Gap {
  /** The offset of the comma, if there is one. */
  comma: number | undefined;
  /** The offset after the last comment or comma. */
  end: number;
  /** True when it ends with a line comment. */
  endsInLine: boolean;
}

/** The text between two children, or between a child and the closing bracket. */
function readGap(text: string, from: number, to: number): Gap {
  const scanner = createScanner(text.slice(0, to), false);
  scanner.setPosition(from);
  const gap: Gap = { comma: undefined, end: from, endsInLine: false };
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    if (token !== COMMA && token !== LINE_COMMENT && token !== BLOCK_COMMENT) continue;
    if (token === COMMA) gap.comma = scanner.getTokenOffset();
    gap.end = scanner.getTokenOffset() + scanner.getTokenLength();
    gap.endsInLine = token === LINE_COMMENT;
  }
  return gap;
}

function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? "";
}

/** The indentation of one level: that of the first indented line. */
function findUnit(text: string): string {
  return /^(?:\t| +)(?=\S)/m.exec(text)?.[0] ?? DEFAULT_UNIT;
}

function endOf({ offset, length }: TextNode): number {
  return offset + length;
}

/** The rules of the user's file, in its order. `path` is the file, which may not exist yet. */
export interface UserRules {
  path: string;
  rules: readonly PermissionRule[];
}

/**
 * Reads the rules of the user's file; none without a file. @throws ConfigError when it is invalid, Error without a home
 * directory.
 */
export async function readUserRules(environment: Environment): Promise<UserRules> {
  const { path, text } = await findUserFile(environment);
  return { path, rules: text === undefined ? [] : rulesOf({ path, text }, environment) };
}

/**
 * Appends a rule to the user's file, which is created if necessary (0600). Everything else in it stays unchanged.
 * @throws ConfigError if the file or the rule is invalid; nothing was written then.
 */
export async function addUserRule(environment: Environment, rule: PermissionRule): Promise<UserRules> {
  return change(environment, (before) => ({
    text: withRule(before.text, rule),
    rules: [...before.rules, rule],
  }));
}

/**
 * Removes a rule from the user's file. Everything else in it stays unchanged, including comments next to the rule.
 * @param index its index in `UserRules.rules`. @throws ConfigError if the file is invalid, Error if another rule is
 * there now; nothing was written then.
 */
export async function removeUserRule(
  environment: Environment,
  index: number,
  rule: PermissionRule,
): Promise<UserRules> {
  return change(environment, ({ text, rules, path }) => {
    const list = findList(text);
    if (!list || !isDeepStrictEqual(rules[index], rule))
      throw new Error(
        `${path} has changed in the meantime, and the rule is no longer at the same index. Nothing was written.`,
      );
    return { text: removeChild(text, list, index), rules: rules.toSpliced(index, 1) };
  });
}

/** A file with rules: the user's, or that of a project, which others may read and which may have unknown settings. */
interface RuleFile {
  path: string;
  environment: Environment;
  isShared: boolean;
}

/**
 * Adds rules before those of a file and after them. Everything else in it stays unchanged.
 * @returns those before and now, and the hash of the new content. @throws ConfigError if the file or a rule is invalid; nothing was written then.
 */
export async function surroundRules(
  file: RuleFile,
  select: (existing: readonly PermissionRule[]) => {
    first: readonly PermissionRule[];
    last: readonly PermissionRule[];
  },
): Promise<{ before: readonly PermissionRule[]; now: readonly PermissionRule[]; sha256: string }> {
  let before: readonly PermissionRule[] = [];
  const mode = statSync(file.path, { throwIfNoEntry: false })?.mode ?? 0o644;
  const { rules: now, sha256 } = await changeRules(file, ({ text, rules }) => {
    before = rules;
    const { first, last } = select(rules);
    const started = first.reduceRight((after, rule) => withFirstRule(after, rule), text);
    return {
      text: last.reduce((after, rule) => withRule(after, rule), started),
      rules: [...first, ...rules, ...last],
    };
  });
  if (file.isShared) chmodSync(file.path, mode & 0o777);
  return { before, now, sha256 };
}

interface RuleText {
  text: string;
  rules: readonly PermissionRule[];
}

async function change(
  environment: Environment,
  edit: (before: RuleText & { path: string }) => RuleText,
): Promise<UserRules> {
  const { path } = await findUserFile(environment);
  const { rules } = await changeRules({ path, environment, isShared: false }, edit);
  return { path, rules };
}

async function changeRules(
  { path, environment, isShared }: RuleFile,
  edit: (before: RuleText & { path: string }) => RuleText,
): Promise<UserRules & { sha256: string }> {
  let sha256 = "";
  let rules: readonly PermissionRule[] = [];
  const read = (text: string) => rulesOf({ path, text }, environment, isShared);
  await updatePrivateFile(path, (content) => {
    const { text, hasByteOrderMark } = content ? decodeUtf8(content) : EMPTY;
    const after = edit({ path, text, rules: read(text) });
    // A safety check on the text edit: only the intended change is ever written.
    if (!isDeepStrictEqual(read(after.text), after.rules))
      throw new Error(`${path} cannot be changed without changing more than the rule; edit it yourself.`);
    rules = after.rules;
    const written = encodeUtf8({ text: after.text, hasByteOrderMark });
    sha256 = Bun.SHA256.hash(written, "hex");
    return written;
  });
  return { path, rules, sha256 };
}

const EMPTY = { text: "{}\n", hasByteOrderMark: false };

async function findUserFile(environment: Environment): Promise<{ path: string; text: string | undefined }> {
  const directory = userConfigDirectory(environment);
  if (directory === undefined)
    throw new Error("There is no home directory, so there is no user configuration.");
  const file = await readConfigFile(directory);
  return { path: file?.path ?? join(directory, CONFIG_NAMES[0]), text: file?.text };
}

/** @throws ConfigError with all problems of the file. */
function rulesOf(
  file: { path: string; text: string },
  environment: Environment,
  isShared = false,
): PermissionRule[] {
  const { config, document } = readConfig(file, { kind: "fill", environment }, isShared ? "skip" : "refuse");
  const twice = document.duplicates.find(({ key }) => key === "permissions");
  if (twice) {
    const location = document.locate(twice.nameOffset);
    throw new ConfigError([
      { source: file.path, location, key: "permissions", message: "it is set more than once" },
    ]);
  }
  return config.permissions ?? [];
}

function writeRule({ permission, pattern, action }: PermissionRule): string {
  const [p, t, a] = [permission, pattern, action].map((value) => JSON.stringify(value));
  return `{ "permission": ${p}, "pattern": ${t}, "action": ${a} }`;
}

/** Comments before the first rule stay where they are. */
function withFirstRule(text: string, rule: PermissionRule): string {
  const first = findList(text)?.children?.[0];
  if (first === undefined) return withRule(text, rule);
  const lineStart = text.lastIndexOf("\n", first.offset - 1) + 1;
  const isOnOwnLine = text.slice(lineStart, first.offset).trim() === "";
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const separator = isOnOwnLine ? lineEnd + indentAt(text, first.offset) : " ";
  return applyEdits(text, [{ offset: first.offset, length: 0, content: `${writeRule(rule)},${separator}` }]);
}

function withRule(text: string, rule: PermissionRule): string {
  const written = writeRule(rule);
  const list = findList(text);
  if (list) return appendChild(text, list, () => written);
  const member: ChildText = ({ indent, unit, lineEnd }) => {
    if (indent === undefined) return `"permissions": [${written}]`;
    return [`"permissions": [`, `${indent}${unit}${written}`, `${indent}]`].join(lineEnd);
  };
  const root = rootOf(text);
  return root ? appendChild(text, root, member) : text;
}

function findList(text: string): TextNode | undefined {
  for (const { children: [name, value] = [] } of rootOf(text)?.children ?? [])
    if (name?.value === "permissions") return value;
  return undefined;
}

function rootOf(text: string): TextNode | undefined {
  const parsed = parseText(text);
  return "root" in parsed ? parsed.root : undefined;
}
