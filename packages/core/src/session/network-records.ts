import type {
  ConnectionPurpose,
  NetworkConnection,
  UnseenProcess,
} from "../infrastructure/network/connection.ts";
import type { SessionEntry } from "./types.ts";

const PURPOSES: Readonly<Record<ConnectionPurpose, true>> = {
  command: true,
  provider: true,
  web_fetch: true,
  mcp: true,
  hook: true,
  update: true,
  language_server: true,
};

function isPurpose(value: unknown): value is ConnectionPurpose {
  return typeof value === "string" && Object.hasOwn(PURPOSES, value);
}

/** The type of the custom entries that hold such records. */
export const NETWORK_ENTRY_TYPE = "network";

/** The connections of a session that have everything but their size in common. */
export interface NetworkRecord extends NetworkConnection {
  /** How many there were; `bytes` and `bytesSent` are their sums. */
  connections: number;
}

/** A process whose connections could not be seen. */
export interface UnseenRecord extends UnseenProcess {
  unseen: true;
}

/** What is known of the connections of a session. */
export interface NetworkRecords {
  connections: NetworkRecord[];
  /** Each once. */
  unseen: UnseenRecord[];
}

/**
 * What a session's entries say of connections, on all branches, in the order in which they were first made.
 * @param unsaved what is not in the entries yet.
 */
export function readNetworkRecords(
  entries: readonly SessionEntry[],
  unsaved: NetworkRecords = { connections: [], unseen: [] },
): NetworkRecords {
  const connections = new Map<string, NetworkRecord>();
  const unseen = new Map<string, UnseenRecord>();
  const addUnseen = (record: UnseenRecord) => unseen.set(`${record.purpose} ${record.command ?? ""}`, record);
  for (const entry of entries) {
    if (entry.type !== "custom" || entry.customType !== NETWORK_ENTRY_TYPE) continue;
    const record = parseRecord(entry.data);
    if (record && "unseen" in record) addUnseen(record);
    else if (record) addNetworkRecord(connections, record);
  }
  for (const record of unsaved.connections) addNetworkRecord(connections, record);
  for (const record of unsaved.unseen) addUnseen(record);
  return { connections: [...connections.values()], unseen: [...unseen.values()] };
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
function parseRecord(data: unknown): NetworkRecord | UnseenRecord | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const fields: Partial<Record<string, unknown>> = { ...data };
  const { host, port, allowed, by, bytes, bytesSent, problem, connections } = fields;
  const command = typeof fields.command === "string" ? { command: fields.command } : {};
  const purpose = isPurpose(fields.purpose) ? fields.purpose : undefined;
  if (fields.unseen === true) {
    const unseen = fields.purpose === "module" ? "module" : purpose;
    return unseen && { unseen: true, purpose: unseen, ...command };
  }
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
    ...command,
    ...(purpose !== undefined && purpose !== "command" && { purpose }),
  };
}
