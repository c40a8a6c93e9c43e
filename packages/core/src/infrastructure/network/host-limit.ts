import { toCanonicalHost } from "./addresses.ts";
import {
  type HostAndPort,
  type HostPattern,
  matchesHostPattern,
  parseHostPattern,
  toHostPatternText,
} from "./host-pattern.ts";

/**
 * The only hosts that this process may reach, its sandboxed commands and servers included. One for the process, so
 * that no part of it can be left out; undefined without a limit.
 */
let limit: readonly HostPattern[] | undefined;

/**
 * Limits the whole process to hosts; undefined ends the limit.
 * @returns why an entry is invalid, a clause; nothing has changed then.
 */
export function limitHosts(entries: readonly string[] | undefined): string | undefined {
  const patterns: HostPattern[] = [];
  for (const entry of entries ?? []) {
    const parsed = parseHostPattern(entry);
    if ("problem" in parsed) return `${JSON.stringify(entry)} ${parsed.problem}`;
    patterns.push(parsed);
  }
  limit = entries && patterns;
  return undefined;
}

/** The entries of the limit, as they were written; undefined without a limit. */
export function listLimitedHosts(): string[] | undefined {
  return limit?.map(({ text }) => text);
}

/** True if the process is limited to some hosts. */
export function hasHostLimit(): boolean {
  return limit !== undefined;
}

/** Why the limit refuses a connection, a clause; undefined for one that it does not refuse. */
export function findLimitRefusal(wanted: HostAndPort): string | undefined {
  if (limit === undefined || limit.some((pattern) => matchesHostPattern(pattern, wanted))) return undefined;
  return `--only-host does not name ${toHostPatternText(wanted)}`;
}

/** The entry of the limit that allows a connection, a clause; undefined without a limit. */
export function findLimitEntry(wanted: HostAndPort): string | undefined {
  const entry = limit?.find((pattern) => matchesHostPattern(pattern, wanted));
  return entry && `the entry ${entry.text} of --only-host`;
}

/** The limit refuses a connection. The message is a sentence that names the host and the option. */
export class HostLimitError extends Error {
  override name = "HostLimitError";
}

/** @throws HostLimitError if the limit refuses an address. */
export function assertWithinLimit(url: string): void {
  const wanted = toHostAndPort(url);
  const refusal = wanted && findLimitRefusal(wanted);
  if (wanted && refusal !== undefined)
    throw new HostLimitError(`Not connected: ${refusal}. Add it to the hosts of --only-host to allow it.`);
}

/** Where an http address connects; undefined for any other address. */
export function toHostAndPort(url: string): HostAndPort | undefined {
  const parsed = URL.parse(url);
  const host = parsed && toCanonicalHost(parsed.hostname);
  if (!parsed || !host || !/^https?:$/.test(parsed.protocol)) return undefined;
  const port = parsed.port === "" ? (parsed.protocol === "https:" ? 443 : 80) : Number(parsed.port);
  return { host, port };
}
