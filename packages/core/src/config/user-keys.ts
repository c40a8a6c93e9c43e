import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { updatePrivateFile } from "../infrastructure/fs/private-files.ts";
import { locateFile } from "../infrastructure/fs/read.ts";
import { isInside } from "../infrastructure/fs/real-path.ts";
import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import { type Environment, homeDirectory } from "../infrastructure/runtime.ts";
import { decodeUtf8, encodeUtf8 } from "../infrastructure/text/text-file.ts";
import { readConfigFile } from "./document.ts";
import { removeMember, setMember } from "./jsonc-member.ts";
import { readConfig } from "./layers.ts";
import type { DiligentConfig } from "./schema.ts";
import { CONFIG_NAMES } from "./settings.ts";

/** A change of the user's file: its path, and whether the provider had a key before. */
export interface KeyChange {
  path: string;
  /** Where the file lies if that is a link, or in a linked directory below the home; links stay. */
  linkedTo?: string | undefined;
  hadKey: boolean;
}

/** The providers with a key in the user's file. @throws ConfigError if the file is invalid. */
export async function listUserKeys(environment: Environment): Promise<string[]> {
  const directory = userConfigDirectory(environment);
  const file = directory === undefined ? undefined : await readConfigFile(directory);
  if (file === undefined) return [];
  const config = read({ ...file, environment });
  const names = ["anthropic", "openai", ...Object.keys(config.provider?.compatible ?? {})];
  return names.filter((name) => keyOf(config, name) !== undefined);
}

/**
 * Saves the key of a provider in the user's file, which is created if necessary and readable by the user only
 * (0600). Everything else in it stays unchanged, including comments.
 * @param name `anthropic`, `openai`, or a compatible server of that file.
 * @throws ConfigError if the file is invalid, Error if it has no such server; nothing was written then. No message
 * contains the key.
 */
export async function storeUserKey(environment: Environment, name: string, key: string): Promise<KeyChange> {
  return changeKey(environment, name, key);
}

/** Removes the key of a provider from the user's file. @throws like `storeUserKey`. */
export async function removeUserKey(environment: Environment, name: string): Promise<KeyChange> {
  return changeKey(environment, name, undefined);
}

async function changeKey(
  environment: Environment,
  name: string,
  key: string | undefined,
): Promise<KeyChange> {
  const directory = userConfigDirectory(environment);
  if (directory === undefined)
    throw new Error("There is no home directory, so there is no user configuration.");
  const file = await readConfigFile(directory);
  const path = file?.path ?? join(directory, CONFIG_NAMES[0]);
  const isStored = file && keyOf(read({ ...file, environment }), name) !== undefined;
  if (key === undefined && !isStored) return { path, hadKey: false };
  const linkedTo = findLinkTarget(path, environment);
  let hadKey = false;
  await updatePrivateFile(path, (content) => {
    const { text, hasByteOrderMark } = content
      ? decodeUtf8(content)
      : { text: "{}\n", hasByteOrderMark: false };
    const before = read({ path, text, environment });
    hadKey = keyOf(before, name) !== undefined;
    const member = pathOf(before, name, path);
    const edited = key === undefined ? removeMember(text, member) : setMember(text, member, key);
    // A safety check on the text edit: only the intended change is ever written.
    if (!isDeepStrictEqual(read({ path, text: edited, environment }), withKey(before, name, key)))
      throw new Error(
        `${path} cannot be changed without changing more than the key; edit ${member.join(".")} yourself.`,
      );
    return encodeUtf8({ text: edited, hasByteOrderMark });
  });
  return { path, linkedTo, hadKey };
}

/** The real path, unless only the home itself is behind a link. @throws Error for a link that leads nowhere. */
function findLinkTarget(path: string, environment: Environment): string | undefined {
  const { realPath } = locateFile(path);
  const home = homeDirectory(environment);
  const isBelowHome = home !== undefined && isInside(path, home);
  const usualPath = isBelowHome ? join(locateFile(home).realPath, relative(home, path)) : path;
  return realPath === usualPath ? undefined : realPath;
}

interface UserFile {
  path: string;
  text: string;
  environment: Environment;
}

/** @throws ConfigError with all problems of the file. */
function read({ path, text, environment }: UserFile): DiligentConfig {
  return readConfig({ path, text }, { kind: "fill", environment }).config;
}

function isVendor(name: string): name is "anthropic" | "openai" {
  return name === "anthropic" || name === "openai";
}

function keyOf({ provider }: DiligentConfig, name: string): string | undefined {
  return isVendor(name) ? provider?.[name]?.apiKey : provider?.compatible?.[name]?.apiKey;
}

function pathOf({ provider }: DiligentConfig, name: string, file: string): string[] {
  if (isVendor(name)) return ["provider", name, "apiKey"];
  if (provider?.compatible?.[name] === undefined)
    throw new Error(`${file} has no server ${name} in provider.compatible; add it with its baseUrl first.`);
  return ["provider", "compatible", name, "apiKey"];
}

/** The content that the file must have afterwards. */
function withKey(config: DiligentConfig, name: string, apiKey: string | undefined): DiligentConfig {
  const { provider = {} } = config;
  const change = <T extends { apiKey?: string | undefined }>({ apiKey: _, ...rest }: T) =>
    apiKey === undefined ? rest : { ...rest, apiKey };
  if (isVendor(name)) return { ...config, provider: { ...provider, [name]: change(provider[name] ?? {}) } };
  const server = provider.compatible?.[name];
  if (server === undefined) return config;
  return {
    ...config,
    provider: {
      ...provider,
      compatible: { ...provider.compatible, [name]: { ...change(server), baseUrl: server.baseUrl } },
    },
  };
}
