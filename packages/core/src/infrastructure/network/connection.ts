import type { HostAndPort } from "./host-pattern.ts";

/** What a connection is for. */
export type ConnectionPurpose =
  | "command"
  | "provider"
  | "web_fetch"
  | "mcp"
  | "hook"
  | "update"
  | "language_server";

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

/** A process, or several of a kind, whose connections cannot be seen, since they run outside a sandbox. */
export interface UnseenProcess {
  purpose: ConnectionPurpose | "module";
  /** The command line; for a server or a module, its name. Left out for all commands of a session. */
  command?: string;
}

/** Receives connections, and what cannot be seen of them. */
export interface TrafficWatcher {
  /** A connection that has ended, or was refused. */
  add(connection: NetworkConnection): void;
  watch: WatchConnection;
  addUnseen(process: UnseenProcess): void;
}

/** Receives a connection as it begins; its bytes are counted until `ended` resolves, which never rejects. */
export type WatchConnection = (connection: NetworkConnection, ended: Promise<void>) => void;

/** Asks the user whether sandboxed processes may connect to a host; `command` is the command line that wants it. */
export type AskForHost = (wanted: HostAndPort, command: string | undefined) => Promise<boolean>;
