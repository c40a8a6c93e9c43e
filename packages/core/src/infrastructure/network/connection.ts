import type { HostAndPort } from "./host-pattern.ts";

/** A connection that a sandboxed process wanted to make. */
export interface NetworkConnection extends HostAndPort {
  allowed: boolean;
  /** What allowed or refused it, a clause such as `the entry example.com`. */
  by: string;
  /** In both directions. */
  bytes: number;
  /** Why an allowed connection came to nothing, a clause. */
  problem?: string;
  /** The command line of the process, as far as it is known. */
  command?: string;
}

/** Asks the user whether sandboxed processes may connect to a host; `command` is the command line that wants it. */
export type AskForHost = (wanted: HostAndPort, command: string | undefined) => Promise<boolean>;
