import type { HostAndPort } from "./host-pattern.ts";

/** What a connection is for; see `NetworkConnection`. */
export const CONNECTION_PURPOSES = [
  "command",
  "provider",
  "web_fetch",
  "mcp",
  "hook",
  "update",
  "language_server",
] as const;

/** See `CONNECTION_PURPOSES`. */
export type ConnectionPurpose = (typeof CONNECTION_PURPOSES)[number];

/** A connection of the program itself, or one that a sandboxed process requested. */
export interface NetworkConnection extends HostAndPort {
  allowed: boolean;
  /** The rule, setting or answer that allowed or refused it, as a clause such as `the entry example.com`. */
  by: string;
  /** In both directions; for the program's own requests, those of the bodies, decompressed. */
  bytes: number;
  /** The part of `bytes` that was sent, where it is known. */
  bytesSent?: number;
  /** Why an allowed connection failed, as a clause. */
  problem?: string;
  /** The command line of the process, if it is known; for a server, its name. */
  command?: string;
  /** Left out for a command. */
  purpose?: Exclude<ConnectionPurpose, "command">;
}

/** Receives a connection as it begins; its bytes are counted until `ended` resolves, which never rejects. */
export type WatchConnection = (connection: NetworkConnection, ended: Promise<void>) => void;

/** Asks the user whether sandboxed processes may connect to a host; `command` is the command line that wants it. */
export type AskForHost = (wanted: HostAndPort, command: string | undefined) => Promise<boolean>;
