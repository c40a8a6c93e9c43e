import { isAddress, toCanonicalHost } from "./addresses.ts";

/** A requested host with its port; see `toCanonicalHost`. */
export interface HostAndPort {
  host: string;
  port: number;
}

/** An entry of a list of allowed hosts: `name`, `*.name`, `name:port`, `address:port`. */
export interface HostPattern {
  /** As it was written. */
  text: string;
  /** Canonical; for `*.name` the name, which is not included itself. */
  host: string;
  includesSubdomains: boolean;
  /** `DEFAULT_PORTS` when left out. */
  port?: number;
}

/** The ports of a host that is named without one: HTTP and HTTPS. */
export const DEFAULT_PORTS: readonly number[] = [80, 443];

/** Parses a pattern; `problem` is a clause such as `must be a host name without a path`. */
export function parseHostPattern(text: string): HostPattern | { problem: string } {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return { problem: "must be a host, without http:// in front" };
  if (text === "*") return { problem: 'must name a host; any public host is the setting "on"' };
  const { host: written, portText } = splitPort(text);
  const includesSubdomains = written.startsWith("*.");
  const host = toCanonicalHost(includesSubdomains ? written.slice(2) : written);
  if (host === undefined || host.includes("*"))
    return { problem: "must be a host such as example.com, *.example.com, example.com:8443 or 10.0.0.5:80" };
  if (includesSubdomains && (isAddress(host) || !host.includes(".")))
    return { problem: "must name a domain of at least two parts after *." };
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535))
    return { problem: "must have a port from 1 to 65535" };
  return { text, host, includesSubdomains, ...(port !== undefined && { port }) };
}

/** An IPv6 address without brackets has no port. */
function splitPort(text: string): { host: string; portText: string | undefined } {
  if (isAddress(text)) return { host: text, portText: undefined };
  const [, host = text, portText] = /^(.*?)(?::(\d{1,6}))?$/s.exec(text) ?? [];
  return { host, portText };
}

/** True when the pattern allows the connection. */
export function matchesHostPattern(pattern: HostPattern, { host, port }: HostAndPort): boolean {
  const isHost = pattern.includesSubdomains ? host.endsWith(`.${pattern.host}`) : host === pattern.host;
  return isHost && (pattern.port === undefined ? DEFAULT_PORTS.includes(port) : port === pattern.port);
}

/** The shortest pattern for a connection: without a port that is implied. */
export function toHostPatternText({ host, port }: HostAndPort): string {
  if (DEFAULT_PORTS.includes(port)) return host;
  return formatHostAndPort({ host, port });
}

/** With brackets around an IPv6 address. */
export function formatHostAndPort({ host, port }: HostAndPort): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
