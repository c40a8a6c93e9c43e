import { z } from "zod";
import { updatePrivateFile } from "../../infrastructure/fs/private-files.ts";
import { readCheckedFile } from "../../infrastructure/fs/read.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { PluginError } from "./plugin-error.ts";
import { pluginRecordPath } from "./plugin-paths.ts";

const VERSION = 1;
const MAX_BYTES = 4 * 1024 * 1024;

const PluginRecordSchema = z.looseObject({
  name: z.string(),
  /** As the user gave it, with an absolute path. */
  source: z.string(),
  /** Which plugin of the source, where it has several. */
  selected: z.string().optional(),
  /** Null for a directory that is no repository. */
  commit: z.string().nullable(),
  /** Below the directory of plugins. */
  directory: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
  /** Of everything that the user has agreed to. */
  sha256: z.string(),
  agreedAt: z.string(),
});

const RecordFileSchema = z.looseObject({
  version: z.literal(VERSION),
  plugins: z.array(PluginRecordSchema),
});

/** A plugin that the user has agreed to, in exactly one form. */
export type PluginRecord = z.infer<typeof PluginRecordSchema>;

/** @throws PluginError for a file that is damaged, or that another user could have written. */
export async function readPluginRecords(environment: Environment): Promise<PluginRecord[]> {
  const path = pluginRecordPath(environment);
  if (path === undefined) return [];
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  if (reading.kind === "missing") return [];
  if (reading.kind === "unreadable") throw unusable(path, reading.reason);
  if (reading.file.concern !== undefined) throw unusable(path, reading.file.concern);
  return parseRecords(reading.file.content, path);
}

/** @throws PluginError if the existing file cannot be used, or if there is no home directory. */
export async function updatePluginRecords(
  environment: Environment,
  change: (records: readonly PluginRecord[]) => PluginRecord[],
): Promise<void> {
  const path = pluginRecordPath(environment);
  if (path === undefined)
    throw new PluginError("There is no home directory in which plugins could be recorded.");
  await readPluginRecords(environment);
  await updatePrivateFile(path, (content) => {
    const before = content === undefined ? [] : parseRecords(content, path);
    const plugins = change(before).sort((left, right) => (left.name < right.name ? -1 : 1));
    return new TextEncoder().encode(`${JSON.stringify({ version: VERSION, plugins }, null, 2)}\n`);
  });
}

function parseRecords(content: Uint8Array, path: string): PluginRecord[] {
  if (content.length > MAX_BYTES) throw unusable(path, `it is larger than ${MAX_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(content));
  } catch {
    throw unusable(path, "it is not valid JSON");
  }
  const parsed = RecordFileSchema.safeParse(value);
  if (!parsed.success) throw unusable(path, "it is damaged");
  return parsed.data.plugins;
}

function unusable(path: string, reason: string): PluginError {
  return new PluginError(`No plugin is used: ${path} cannot be read: ${reason}. Fix or delete it.`);
}
