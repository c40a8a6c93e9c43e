import { join } from "node:path";
import { z } from "zod";
import type { Environment } from "../infrastructure/environment.ts";
import { userStateDirectory } from "../infrastructure/places/user-directories.ts";
import { type FileReading, readCheckedFile } from "../infrastructure/reading/checked-file.ts";
import { updatePrivateFile } from "../infrastructure/writing/private-file.ts";
import type { ConfigWarning } from "./config-error.ts";

const VERSION = 1;
const MAX_BYTES = 16 * 1024 * 1024;

const TrustedItemSchema = z.looseObject({
  /** `config` is the project's configuration file; other kinds may be there from later versions. */
  kind: z.string(),
  /** From the project root. */
  path: z.string(),
  /** Of the whole content, hexadecimal. */
  sha256: z.string(),
  /** What it said when it was trusted, as it was shown. */
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

/** A setting that was trusted, by its key and its value. */
export type TrustedItem = z.infer<typeof TrustedItemSchema>;
/** A directory whose configuration was trusted, with the content that was. */
export type TrustedProject = z.infer<typeof TrustedProjectSchema>;
type TrustFile = z.infer<typeof TrustFileSchema>;

/** Where trust is remembered: `trust.json` in the user's state directory; undefined without a home directory. */
export function findTrustFile(environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory === undefined ? undefined : join(directory, "trust.json");
}

/** Every trusted project. A file that cannot be read, is damaged or could be somebody else's counts as empty, with a warning. */
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
    const message = `${path}: no project counts as trusted, since this file cannot be used: ${reason}`;
    return { projects: [], warnings: [{ code: "trust_file", message }] };
  }
}

/**
 * Changes the list of trusted projects, whole or not at all, without losing what another process writes meanwhile.
 * @throws Error where there is no home directory, and where the file that is there is damaged: it is left as it is.
 */
export async function updateTrust(
  environment: Environment,
  change: (projects: readonly TrustedProject[]) => TrustedProject[],
): Promise<void> {
  const path = findTrustFile(environment);
  if (path === undefined) throw new Error("Trust cannot be remembered: there is no home directory.");
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  try {
    // What somebody else may have written must not become ours by being written again.
    if (reading.kind !== "missing") parseReading(reading);
    await updatePrivateFile(path, (content) => {
      const file = content === undefined ? { version: VERSION, projects: [] } : parseTrustFile(content);
      const changed = { ...file, projects: change(file.projects) };
      return new TextEncoder().encode(`${JSON.stringify(changed, null, 2)}\n`);
    });
  } catch (error) {
    if (!(error instanceof TrustFileError)) throw error;
    throw new Error(`${path} is left as it is: ${error.message}. Mend or remove it, then try again.`, {
      cause: error,
    });
  }
}

/** The file cannot be used; `message` says why. */
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
    throw new TrustFileError("it is no JSON", { cause: error });
  }
  const parsed = TrustFileSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TrustFileError(`"${issue?.path.map(String).join(".") ?? ""}" is not as expected`);
}
