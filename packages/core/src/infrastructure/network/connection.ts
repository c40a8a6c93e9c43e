import type { HostAndPort } from "./host-pattern.ts";

/** A connection that a sandboxed process or the tool `web_fetch` requested. */
export interface NetworkConnection extends HostAndPort {
  allowed: boolean;
  /** The rule or answer that allowed or refused it, as a clause such as `the entry example.com`. */
  by: string;
  /** In both directions; for a page, those of the answer's body. */
  bytes: number;
  /** Why an allowed connection failed, as a clause. */
  problem?: string;
  /** The command line of the process, if it is known. */
  command?: string;
  /** Left out for a command. */
  purpose?: "web_fetch";
}

/** Asks the user whether sandboxed processes may connect to a host; `command` is the command line that wants it. */
export type AskForHost = (wanted: HostAndPort, command: string | undefined) => Promise<boolean>;
