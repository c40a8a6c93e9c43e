import { join } from "node:path";
import { readCheckedFile, updatePrivateFile } from "@diligent/core/interactive";
import { type Environment, userStateDirectory } from "@diligent/core/light";
import { UpdateError } from "./update-error.ts";
import { isVersion } from "./version-order.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
// It has some hundred.
const MAX_BYTES = 4_096;
// Sixteen digits tell all addresses of a person apart.
const ADDRESS_DIGITS = 16;

/** When was asked last, and what was answered. */
export interface UpdateRecord {
  /** Milliseconds since the epoch. */
  askedAt: number;
  /** Begins the SHA-256 of the address that was asked, hexadecimal. */
  address: string;
  /** The newest version as it was answered last; left out before the first answer. */
  version?: string;
}

/** Somebody who wants to know, and the time. */
export interface Asking {
  url: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** `update.json` in the user's state directory. @throws UpdateError without a home directory. */
export function updateRecordPath(environment: Environment): string {
  const state = userStateDirectory(environment);
  if (state === undefined) throw new UpdateError("there is no home directory to keep the answer in");
  return join(state, "update.json");
}

/**
 * What is kept for this address, if it is younger than a day; undefined when it is time to ask. A file that is damaged counts
 * as none.
 * @throws UpdateError where it cannot be read: then nothing can be kept either.
 */
export async function readFreshRecord(path: string, asking: Asking): Promise<UpdateRecord | undefined> {
  const reading = await readCheckedFile(path, MAX_BYTES);
  if (reading.kind === "missing") return undefined;
  if (reading.kind === "unreadable") throw new UpdateError(reading.reason);
  const record = parseRecord(reading.file.content);
  return record && isFresh(record, asking) ? record : undefined;
}

/**
 * Notes that somebody asks now, before they do: whoever else starts at this moment, and whoever starts after a failure,
 * finds it. Undefined for the one who is to ask, else what another process has noted meanwhile.
 * @throws Error where it cannot be kept: then nobody may ask.
 */
export async function claimAsking(path: string, asking: Asking): Promise<UpdateRecord | undefined> {
  const found: { fresh?: UpdateRecord } = {};
  await updatePrivateFile(path, (content) => {
    const record = content && parseRecord(content);
    if (content && record && isFresh(record, asking)) {
      found.fresh = record;
      return content;
    }
    const address = toFingerprint(asking.url);
    const version = record?.address === address ? record.version : undefined;
    return encode({ askedAt: asking.at, address, ...(version !== undefined && { version }) });
  });
  return found.fresh;
}

/** Keeps an answer. @throws Error where that cannot be done. */
export async function keepAnswer(path: string, { url, at }: Asking, version: string): Promise<void> {
  await updatePrivateFile(path, () => encode({ askedAt: at, address: toFingerprint(url), version }));
}

/** What was noted in the future, by a clock that was set back since, does not count. */
function isFresh({ askedAt, address }: UpdateRecord, { url, at }: Asking): boolean {
  return address === toFingerprint(url) && askedAt <= at && at - askedAt < DAY_MS;
}

function toFingerprint(url: string): string {
  return Bun.SHA256.hash(url, "hex").slice(0, ADDRESS_DIGITS);
}

function encode({ askedAt, ...rest }: UpdateRecord): Uint8Array {
  const written = { askedAt: new Date(askedAt).toISOString(), ...rest };
  return new TextEncoder().encode(`${JSON.stringify(written)}\n`);
}

function parseRecord(content: Uint8Array): UpdateRecord | undefined {
  const written = parseJson(content);
  if (typeof written !== "object" || written === null) return undefined;
  const { askedAt, address, version }: { askedAt?: unknown; address?: unknown; version?: unknown } = written;
  const at = typeof askedAt === "string" ? Date.parse(askedAt) : Number.NaN;
  if (Number.isNaN(at) || typeof address !== "string") return undefined;
  return { askedAt: at, address, ...(isVersion(version) && { version }) };
}

function parseJson(content: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(content));
  } catch {
    return undefined; // Damaged: it is written anew.
  }
}
