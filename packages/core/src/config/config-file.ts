import { join } from "node:path";
import { decodeUtf8, NotUtf8Error } from "../infrastructure/content/text-file.ts";
import { type CheckedFile, isThere, readCheckedFile } from "../infrastructure/reading/checked-file.ts";
import { isInside } from "../infrastructure/reading/real-path.ts";
import { systemErrorText } from "../infrastructure/system-error.ts";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { CONFIG_NAMES } from "./config-names.ts";

/** Far above any configuration; what is larger is something else under its name. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

/** A configuration file as it was read; `sha256` (hexadecimal) is that of its bytes. */
export interface ConfigFile {
  path: string;
  name: string;
  realPath: string;
  text: string;
  sha256: string;
  /** Why somebody else could have written it. */
  concern: string | undefined;
  isOpenToOthers: boolean;
}

/** A project's file that leads out of the project is not read at all; `reason` fits behind "is not loaded:". */
export type ProjectFileReading =
  | { kind: "none" }
  | { kind: "refused"; path: string; reason: string }
  | { kind: "file"; file: ConfigFile };

/**
 * Reads `diligent.jsonc` or `diligent.json` in a directory; undefined where there is neither.
 * @throws ConfigError when it cannot be read, is no text or too large, and when both are there.
 */
export async function readConfigFile(directory: string): Promise<ConfigFile | undefined> {
  const name = findName(directory);
  return name === undefined ? undefined : toConfigFile(name, await readFile(join(directory, name)));
}

/** The same for a project, whose file may not be a link to something outside. */
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
    const message = `there is ${second.path} too; keep one of them`;
    throw new ConfigError([{ source: first.path, message }]);
  }
  return first?.name;
}

function isThereOrFail(path: string): boolean {
  try {
    return isThere(path);
  } catch (error) {
    throw unreadable(path, systemErrorText(error));
  }
}

async function readFile(path: string): Promise<CheckedFile> {
  const reading = await readCheckedFile(path, MAX_CONFIG_BYTES + 1);
  if (reading.kind === "missing") throw unreadable(path, "it has just been removed");
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
    if (error instanceof NotUtf8Error) throw unreadable(path, `it has to be UTF-8, and is ${error.message}`);
    throw error;
  }
}

function unreadable(path: string, reason: string): ConfigError {
  const problem: ConfigProblem = { source: path, message: `the configuration cannot be read: ${reason}` };
  return new ConfigError([problem]);
}
