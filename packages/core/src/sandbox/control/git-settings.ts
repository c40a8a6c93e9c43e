import { dirname, resolve } from "node:path";
import { findRealPath } from "../../infrastructure/reading/real-path.ts";
import { readSmallText } from "../../infrastructure/reading/small-text.ts";

/** One setting of git: its key without the section, in lower case, and the file it stands in. */
export interface GitSetting {
  key: string;
  value: string;
  file: string;
}

const MAX_BYTES = 256 * 1024;
const MAX_INCLUDES_DEEP = 4;

/** `[section "x"] key = value`, the section left out or alone. */
const LINE = /^\s*(?:\[(?:[^\]"\\]|"(?:[^"\\]|\\.)*")*\])?\s*(?:([a-z][\w-]*)\s*=\s*(.*))?$/is;

/**
 * The settings in a file and in those it includes, whatever their sections and conditions; see git-config(1). Nothing for a
 * file that is not there. What cannot be read as a setting is passed over.
 */
export function readGitSettings(file: string): GitSetting[] {
  return readOnce(file, { depth: 0, seen: new Set() });
}

/** Files may include themselves, in every line. */
function readOnce(file: string, { depth, seen }: { depth: number; seen: Set<string> }): GitSetting[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const text = readSmallText(findRealPath(file, "/") ?? file, MAX_BYTES) ?? "";
  const lines = text.replace(/\\\r?\n/g, "").split(/\r?\n/);
  const settings = lines.flatMap((line) => {
    const [, key, value] = LINE.exec(line) ?? [];
    return key === undefined || value === undefined
      ? []
      : [{ key: key.toLowerCase(), value: readValue(value), file }];
  });
  if (depth >= MAX_INCLUDES_DEEP) return settings;
  const included = settings.filter(({ key, value }) => key === "path" && !value.startsWith("~"));
  return [
    ...settings,
    ...included.flatMap(({ value }) => readOnce(resolve(dirname(file), value), { depth: depth + 1, seen })),
  ];
}

/** Without quotes, escapes and what is remarked behind it. */
function readValue(written: string): string {
  let value = "";
  let isQuoted = false;
  for (const [part] of written.matchAll(/\\.|[\s\S]/g)) {
    if (part === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (part === "#" || part === ";")) break;
    else value += part.length > 1 ? part.slice(1) : part;
  }
  return value.trim();
}
