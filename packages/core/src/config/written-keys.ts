import { join } from "node:path";
import { readCheckedFile } from "../infrastructure/fs/read.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { DiligentConfig } from "./schema.ts";
import { CONFIG_NAMES, substituteVariables } from "./settings.ts";

/** The part of a configuration that may hold keys. */
export type ProviderKeys = Pick<DiligentConfig, "provider">;

const MAX_BYTES = 1024 * 1024;
// The limits keep a file that was made for it from taking long.
const BLANK = String.raw`\s*(?:(?://[^\n]{0,200}\n|/\*(?:[^*]|\*(?!/)){0,200}\*/)\s*){0,8}`;
const CHARACTER = String.raw`(?:[^"\\\n]|\\.)`;
const OBJECT = new RegExp(`"(${CHARACTER}{0,100})"${BLANK}:${BLANK}\\{`, "g");
const ACCESS = new RegExp(`"(apiKey|baseUrl)"${BLANK}:${BLANK}"(${CHARACTER}{0,4096})"`, "g");

/**
 * The keys and addresses of providers that stand in the configuration files of a directory. The texts are searched, not
 * parsed: that finds them in a broken file, too, and does not wait for the JSONC reader, which takes longer to load than
 * a list of sessions takes. Never throws: what cannot be read holds none.
 */
export async function readWrittenKeys(directory: string, environment: Environment): Promise<ProviderKeys[]> {
  const readings = await Promise.all(
    CONFIG_NAMES.map((name) => readCheckedFile(join(directory, name), MAX_BYTES)),
  );
  return readings.flatMap((reading) =>
    reading.kind === "file" ? findKeys(new TextDecoder().decode(reading.file.content), environment) : [],
  );
}

interface Access {
  apiKey?: string;
  baseUrl?: string;
}

/** Each with the name of the object that it stands in, which is that of its provider. */
function findKeys(text: string, environment: Environment): ProviderKeys[] {
  const objects = [...text.matchAll(OBJECT)];
  const beginning = { name: "provider", start: 0 };
  const parts = [
    beginning,
    ...objects.map(({ 0: head, 1: name = "", index }) => ({ name, start: index + head.length })),
  ];
  return parts.flatMap(({ name, start }, number) => {
    const access = readAccess(text.slice(start, parts[number + 1]?.start), environment);
    if (access.apiKey === undefined && access.baseUrl === undefined) return [];
    return [{ provider: toProvider(name, access) }];
  });
}

function readAccess(text: string, environment: Environment): Access {
  const access: Access = {};
  for (const [, name, written = ""] of text.matchAll(ACCESS)) {
    const value = substituteVariables(readLiteral(written), environment, () => {});
    if (name === "apiKey") access.apiKey = value;
    else access.baseUrl = value;
  }
  return access;
}

function toProvider(name: string, access: Access): ProviderKeys["provider"] {
  if (name === "anthropic" || name === "openai") return { [name]: access };
  return { compatible: { [name]: { baseUrl: "", ...access } } };
}

function readLiteral(written: string): string {
  try {
    return String(JSON.parse(`"${written}"`));
  } catch {
    return written; // An escape that is none.
  }
}
