import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import { isLoopbackUrl } from "../../infrastructure/urls.ts";
import { PluginError } from "./plugin-error.ts";

/** Where a plugin comes from. */
export type PluginSource =
  /** A repository; `address` is a URL, `user@host:path`, or an absolute path. */
  | { kind: "git"; address: string; protocol: "https" | "http" | "ssh" | "file"; ref: string | undefined }
  /** A directory that is no repository; absolute. */
  | { kind: "directory"; path: string };

/** Where a relative path starts. */
interface SourcePlace {
  cwd: string;
  environment: Environment;
}

const REF = /^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9_-])?$/;
const PROTOCOLS = ["https", "http", "ssh"] as const;
const SHORT = /^[\w.-]+@(?!-)[A-Za-z0-9.-]+:[^:\s][^\s]*$/;

/**
 * Reads `URL[@REF]` or `PATH[@REF]`. Addresses that start a program, hide a password or are not encrypted are refused.
 * @throws PluginError
 */
export function parseSource(text: string, place: SourcePlace): PluginSource {
  // An existing path may contain an @.
  const whole = toPath(text, place);
  if (!isAddress(text) && existsSync(whole)) return toLocal(whole, undefined);
  const { address, ref } = splitRef(text);
  if (ref !== undefined && (!REF.test(ref) || ref.includes("..")))
    throw new PluginError(`${JSON.stringify(ref)} is not the name of a branch, a tag or a commit.`);
  if (isAddress(address)) return toRemote(address, ref);
  const path = toPath(address, place);
  if (existsSync(path)) return toLocal(path, ref);
  const hint = /^\w[\w.-]*\/[\w.-]+$/.test(address)
    ? ` For GitHub, write https://github.com/${address}.`
    : "";
  throw new PluginError(
    `${address} does not exist, and is no address such as https://host/plugin.git.${hint}`,
  );
}

function isAddress(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*::?\/?\//.test(text) || /^[A-Za-z0-9+.-]+::/.test(text) || SHORT.test(text);
}

/** The `@` before a name, and not the one in `user@host`. */
function splitRef(text: string): { address: string; ref: string | undefined } {
  const at = text.lastIndexOf("@");
  const address = text.slice(0, at);
  const isRef = at > 0 && (isAddress(address) ? hasPath(address) : !isAddress(text));
  return isRef ? { address, ref: text.slice(at + 1) } : { address: text, ref: undefined };
}

function hasPath(address: string): boolean {
  return SHORT.test(address) || /^[^:]+:\/\/[^/]+\/./.test(address);
}

function toRemote(address: string, ref: string | undefined): PluginSource {
  if (SHORT.test(address)) return { kind: "git", address, protocol: "ssh", ref };
  const url = URL.parse(address);
  const protocol = PROTOCOLS.find((each) => url?.protocol === `${each}:`);
  if (url && !protocol)
    throw new PluginError(
      `Plugins come from https or ssh addresses, or from a path: not from ${url.protocol.slice(0, -1)}.`,
    );
  if (!url || !protocol || url.hostname === "" || url.hostname.startsWith("-") || /\s/.test(address))
    throw new PluginError(`${JSON.stringify(address)} is not an address such as https://host/plugin.git.`);
  if (protocol === "http" && !isLoopbackUrl(address))
    throw new PluginError("Others could change what comes over http; use https.");
  if (url.password !== "" || (url.username !== "" && protocol !== "ssh"))
    throw new PluginError("Leave the user name and the password out of the address: it is stored and shown.");
  return { kind: "git", address, protocol, ref };
}

function toLocal(path: string, ref: string | undefined): PluginSource {
  const isRepository = existsSync(join(path, ".git")) || existsSync(join(path, "objects", "pack"));
  if (isRepository) return { kind: "git", address: path, protocol: "file", ref };
  if (ref !== undefined)
    throw new PluginError(`${path} is not a git repository, so there is no ${ref} in it.`);
  return { kind: "directory", path };
}

function toPath(text: string, { cwd, environment }: SourcePlace): string {
  const home = homeDirectory(environment);
  const full = home !== undefined && /^~(?:\/|$)/.test(text) ? home + text.slice(1) : text;
  return resolve(cwd, full);
}

/** As it is stored and shown. */
export function formatSource(source: PluginSource): string {
  if (source.kind === "directory") return source.path;
  return source.ref === undefined ? source.address : `${source.address}@${source.ref}`;
}

/** The last part of the address, without `.git`. */
export function nameOfSource(source: PluginSource): string {
  const path = source.kind === "directory" ? source.path : source.address;
  return basename(path.replace(/[/:]+$/, "").replace(/:/g, "/")).replace(/\.git$/, "");
}
