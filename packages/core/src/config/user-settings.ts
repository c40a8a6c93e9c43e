import { join } from "node:path";
import { entryExists, readCheckedFile } from "../infrastructure/fs/read.ts";
import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { decodeUtf8, NotUtf8Error } from "../infrastructure/text/text-file.ts";
import type { ConfigDocument } from "./document.ts";
import { formatKey, formatProblem } from "./errors.ts";

const MAX_BYTES = 256 * 1024;

/** The members of the object in one of the user's files. */
export interface UserSettings {
  path: string;
  values: ReadonlyMap<string, unknown>;
  /** `FILE:LINE:COLUMN: key "NAME": MESSAGE` for a member, or for an element of its list. */
  formatProblem(name: string, message: string, element?: number): string;
  /** Duplicate members (the last one applies), and other users who could have written the file. */
  warnings: readonly string[];
}

/** `problem` is the error with its location. */
export type UserSettingsReading =
  | { kind: "none" }
  | { kind: "broken"; problem: string }
  | { kind: "settings"; settings: UserSettings };

/** Reads a JSONC file in the user's configuration directory. Never throws. */
export async function readUserSettings(environment: Environment, name: string): Promise<UserSettingsReading> {
  const directory = userConfigDirectory(environment);
  const path = directory && join(directory, name);
  if (path === undefined || !isFound(path)) return { kind: "none" };
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  if (reading.kind === "missing") return { kind: "none" };
  if (reading.kind === "unreadable") return broken(path, reading.reason);
  const { content, size, concern } = reading.file;
  if (size > MAX_BYTES) return broken(path, `it is larger than ${MAX_BYTES} bytes`);
  const warnings = concern === undefined ? [] : [`${path}: other users can change it: ${concern}`];
  try {
    return await readText(decodeUtf8(content).text, path, warnings);
  } catch (error) {
    if (error instanceof NotUtf8Error) return broken(path, `it must be UTF-8, but is ${error.message}`);
    throw error;
  }
}

async function readText(
  text: string,
  path: string,
  concerns: readonly string[],
): Promise<UserSettingsReading> {
  // The JSONC reader is slow to load, and most users have no such file.
  const { readDocument } = await import("./document.ts");
  const reading = readDocument(text, path, { kind: "keep" });
  if ("problems" in reading)
    return { kind: "broken", problem: reading.problems.map(formatProblem).join("\n") };
  return { kind: "settings", settings: toSettings(reading.document, path, concerns) };
}

function toSettings(document: ConfigDocument, path: string, concerns: readonly string[]): UserSettings {
  const { value, locations, locate, duplicates } = document;
  const values = new Map<string, unknown>(Object.entries(Object(value)));
  const describe = (offset: number | undefined, key: string, message: string) =>
    formatProblem({ source: path, ...(offset !== undefined && { location: locate(offset) }), key, message });
  const nameOf = (key: string) => [...values.keys()].find((name) => formatKey([name]) === key) ?? key;
  return {
    path,
    values,
    warnings: [
      ...concerns,
      ...duplicates.map(({ key, nameOffset }) =>
        describe(nameOffset, nameOf(key), "it is set more than once; the last one applies"),
      ),
    ],
    formatProblem(name, message, element) {
      if (element === undefined) return describe(locations.get(formatKey([name]))?.nameOffset, name, message);
      return describe(locations.get(formatKey([name, element]))?.offset, name, message);
    },
  };
}

function isFound(path: string): boolean {
  try {
    return entryExists(path);
  } catch {
    return true; // No permission to check it; reading it gives a better error.
  }
}

function broken(path: string, reason: string): UserSettingsReading {
  return { kind: "broken", problem: `${path}: it cannot be read: ${reason}` };
}
