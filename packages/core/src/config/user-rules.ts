import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { decodeUtf8, encodeUtf8 } from "../infrastructure/content/text-file.ts";
import type { Environment } from "../infrastructure/environment.ts";
import { userConfigDirectory } from "../infrastructure/places/user-directories.ts";
import { updatePrivateFile } from "../infrastructure/writing/private-file.ts";
import { ConfigError } from "./config-error.ts";
import { readConfigFile } from "./config-file.ts";
import { CONFIG_NAMES } from "./config-names.ts";
import { readConfig } from "./interpret-project.ts";
import { appendChild, type ChildText, removeChild } from "./jsonc-layout.ts";
import { parseText, type TextNode } from "./parse-text.ts";
import type { PermissionRule } from "./schema.ts";

/** The rules of the user's own file, in its order. `path` is where the file is, or would be. */
export interface UserRules {
  path: string;
  rules: readonly PermissionRule[];
}

/** The rules of the user's file; none without one. @throws ConfigError when it is broken, Error without a home directory. */
export async function readUserRules(environment: Environment): Promise<UserRules> {
  const { path, text } = await findUserFile(environment);
  return { path, rules: text === undefined ? [] : rulesOf({ path, text }, environment) };
}

/**
 * Adds a rule behind those of the user's file, which is made where there is none (0600). Everything else in it stays
 * as it is written.
 * @throws ConfigError when the file is broken or the rule is none: nothing was written then.
 */
export async function addUserRule(environment: Environment, rule: PermissionRule): Promise<UserRules> {
  return change(environment, (before) => ({
    text: withRule(before.text, rule),
    rules: [...before.rules, rule],
  }));
}

/**
 * Takes a rule out of the user's file. Everything else in it stays as it is written, comments beside the rule too.
 * @param index its place among `UserRules.rules`, where it has to stand still.
 * @throws ConfigError when the file is broken, Error when another rule stands there now: nothing was written then.
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
        `${path} has changed meanwhile, and the rule is not where it was. Nothing was written.`,
      );
    return { text: removeChild(text, list, index), rules: rules.toSpliced(index, 1) };
  });
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
  let rules: readonly PermissionRule[] = [];
  await updatePrivateFile(path, (content) => {
    const { text, hasByteOrderMark } = content ? decodeUtf8(content) : EMPTY;
    const after = edit({ path, text, rules: rulesOf({ path, text }, environment) });
    // Whatever an edit of a text may do to it: only what was meant is ever written.
    if (!isDeepStrictEqual(rulesOf({ path, text: after.text }, environment), after.rules))
      throw new Error(
        `${path} cannot be changed without changing more than the rule; please edit it yourself.`,
      );
    rules = after.rules;
    return encodeUtf8({ text: after.text, hasByteOrderMark });
  });
  return { path, rules };
}

const EMPTY = { text: "{}\n", hasByteOrderMark: false };

async function findUserFile(environment: Environment): Promise<{ path: string; text: string | undefined }> {
  const directory = userConfigDirectory(environment);
  if (directory === undefined)
    throw new Error("There is no home directory, and so no configuration of yours.");
  const file = await readConfigFile(directory);
  return { path: file?.path ?? join(directory, CONFIG_NAMES[0]), text: file?.text };
}

/** @throws ConfigError with everything that is wrong with the file. */
function rulesOf(file: { path: string; text: string }, environment: Environment): PermissionRule[] {
  const { config, document } = readConfig(file, { kind: "fill", environment });
  const twice = document.duplicates.find(({ key }) => key === "permissions");
  if (twice) {
    const place = document.placeOf(twice.nameOffset);
    throw new ConfigError([
      { source: file.path, place, key: "permissions", message: "it is set more than once" },
    ]);
  }
  return config.permissions ?? [];
}

function withRule(text: string, { permission, pattern, action }: PermissionRule): string {
  const [p, t, a] = [permission, pattern, action].map((value) => JSON.stringify(value));
  const written = `{ "permission": ${p}, "pattern": ${t}, "action": ${a} }`;
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
