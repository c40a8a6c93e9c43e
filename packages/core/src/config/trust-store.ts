import { join } from "node:path";
import { z } from "zod";
import { updatePrivateFile } from "../infrastructure/fs/private-files.ts";
import { type FileReading, readCheckedFile } from "../infrastructure/fs/read.ts";
import { findMainProject } from "../infrastructure/paths/main-project.ts";
import { userStateDirectory } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { ConfigWarning } from "./errors.ts";

const VERSION = 1;
const MAX_BYTES = 16 * 1024 * 1024;

const TrustedItemSchema = z.looseObject({
  /**
   * `config` is the project's configuration file, `knowledge` its knowledge file; all others are the names of
   * `TrustKind`s, also those of later versions.
   */
  kind: z.string(),
  /** Of a definition: one file may contain several. */
  name: z.string().optional(),
  /** Relative to the project root. */
  path: z.string(),
  /** Of the whole content, hexadecimal. */
  sha256: z.string(),
  /** The settings or details when it was trusted, as they were shown. */
  settings: z.record(z.string(), z.string()).optional(),
});

const TrustedProjectSchema = z.looseObject({
  /** The exact real path; a directory below it or another worktree is another project. */
  directory: z.string(),
  trustedAt: z.string(),
  items: z.array(TrustedItemSchema),
});

const TrustFileSchema = z.looseObject({
  version: z.literal(VERSION),
  projects: z.array(TrustedProjectSchema),
});

/** A file or definition that was trusted, with its hash and settings. */
export type TrustedItem = z.infer<typeof TrustedItemSchema>;
/** A trusted directory with the trusted content. */
export type TrustedProject = z.infer<typeof TrustedProjectSchema>;
type TrustFile = z.infer<typeof TrustFileSchema>;

/**
 * What was trusted in a directory, or else in the main project of a worktree that diligent has made: equal content of
 * both is trusted.
 */
export function findTrustedProject<T extends Pick<TrustedProject, "directory">>(
  projects: readonly T[],
  directory: string,
): T | undefined {
  const own = projects.find((project) => project.directory === directory);
  const main = own ? undefined : findMainProject(directory);
  return own ?? projects.find((project) => project.directory === main);
}

/** `trust.json` in the user's state directory; undefined without a home directory. */
function findTrustFile(environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory === undefined ? undefined : join(directory, "trust.json");
}

/**
 * Reads all trusted projects. A file that is unreadable, damaged or possibly written by another user counts as empty,
 * with a warning.
 */
export async function readTrust(
  environment: Environment,
): Promise<{ projects: readonly TrustedProject[]; warnings: ConfigWarning[] }> {
  const path = findTrustFile(environment);
  if (path === undefined) return { projects: [], warnings: [] };
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  if (reading.kind === "missing") return { projects: [], warnings: [] };
  try {
    return { projects: parseReading(reading).projects, warnings: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${path}: no project is trusted because this file cannot be used: ${reason}`;
    return { projects: [], warnings: [{ code: "trust_file", message }] };
  }
}

/**
 * Changes the list of trusted projects atomically, without losing concurrent changes by other processes.
 * @throws Error if there is no home directory, or if the existing file is damaged; it is unchanged then.
 */
export async function updateTrust(
  environment: Environment,
  change: (projects: readonly TrustedProject[]) => TrustedProject[],
): Promise<void> {
  const path = findTrustFile(environment);
  if (path === undefined) throw new Error("Trust cannot be saved: there is no home directory.");
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  try {
    // Rewriting a file that another user may have written would make it the user's own.
    if (reading.kind !== "missing") parseReading(reading);
    await updatePrivateFile(path, (content) => {
      const file = content === undefined ? { version: VERSION, projects: [] } : parseTrustFile(content);
      const changed = { ...file, projects: change(file.projects) };
      return new TextEncoder().encode(`${JSON.stringify(changed, null, 2)}\n`);
    });
  } catch (error) {
    if (!(error instanceof TrustFileError)) throw error;
    throw new Error(`${path} was not changed: ${error.message}. Fix or delete it, then try again.`, {
      cause: error,
    });
  }
}

/** The file is unusable; `message` is the reason. */
class TrustFileError extends Error {
  override name = "TrustFileError";
}

function parseReading(reading: Exclude<FileReading, { kind: "missing" }>): TrustFile {
  if (reading.kind === "unreadable") throw new TrustFileError(reading.reason);
  if (reading.file.concern !== undefined) throw new TrustFileError(reading.file.concern);
  return parseTrustFile(reading.file.content);
}

function parseTrustFile(content: Uint8Array): TrustFile {
  if (content.length > MAX_BYTES) throw new TrustFileError(`it is larger than ${MAX_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(content));
  } catch (error) {
    throw new TrustFileError("it is not valid JSON", { cause: error });
  }
  const parsed = TrustFileSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TrustFileError(`"${issue?.path.map(String).join(".") ?? ""}" is invalid`);
}
