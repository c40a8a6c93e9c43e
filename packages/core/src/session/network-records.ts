import { CONNECTION_PURPOSES, type NetworkConnection } from "../infrastructure/network/connection.ts";
import type { SessionEntry } from "./types.ts";

/** The type of the custom entries that hold such records. */
export const NETWORK_ENTRY_TYPE = "network";

/** The connections of a session that have everything but their size in common. */
export interface NetworkRecord extends NetworkConnection {
  /** How many there were; `bytes` and `bytesSent` are their sums. */
  connections: number;
}

/**
 * The connections in a session's entries, on all branches, in the order in which they were first made.
 * @param open those that have not ended.
 */
export function readNetworkRecords(
  entries: readonly SessionEntry[],
  open: readonly NetworkConnection[] = [],
): NetworkRecord[] {
  const records = new Map<string, NetworkRecord>();
  for (const entry of entries) {
    const record =
      entry.type === "custom" && entry.customType === NETWORK_ENTRY_TYPE && parseRecord(entry.data);
    if (record) addNetworkRecord(records, record);
  }
  for (const connection of open) addNetworkRecord(records, { ...connection, connections: 1 });
  return [...records.values()];
}

/** Adds a record to the one that it has everything but the size in common with. */
export function addNetworkRecord(records: Map<string, NetworkRecord>, record: NetworkRecord): void {
  const { bytes, bytesSent, connections, ...rest } = record;
  const key = JSON.stringify(Object.entries(rest).sort(([left], [right]) => (left < right ? -1 : 1)));
  const known = records.get(key);
  if (known === undefined) records.set(key, { ...record });
  else {
    known.bytes += bytes;
    if (bytesSent !== undefined) known.bytesSent = (known.bytesSent ?? 0) + bytesSent;
    known.connections += connections;
  }
}

/** Undefined for data that another version or program has written. */
function parseRecord(data: unknown): NetworkRecord | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const fields: Partial<Record<string, unknown>> = { ...data };
  const { host, port, allowed, by, bytes, bytesSent, problem, command, connections } = fields;
  const purpose = CONNECTION_PURPOSES.find((each) => each === fields.purpose);
  if (typeof host !== "string" || typeof port !== "number" || typeof allowed !== "boolean") return undefined;
  return {
    host,
    port,
    allowed,
    by: typeof by === "string" ? by : "",
    bytes: typeof bytes === "number" ? bytes : 0,
    connections: typeof connections === "number" ? connections : 1,
    ...(typeof bytesSent === "number" && { bytesSent }),
    ...(typeof problem === "string" && { problem }),
    ...(typeof command === "string" && { command }),
    ...(purpose !== undefined && purpose !== "command" && { purpose }),
  };
}
