import type { Environment } from "../runtime.ts";
import { toCanonicalHost } from "./addresses.ts";
import { type HostAndPort, matchesHostPattern, parseHostPattern } from "./host-pattern.ts";

/** The proxy that the user has configured for their own connections. */
export interface UpstreamProxy extends HostAndPort {
  /** True if the connection to the proxy itself is encrypted. */
  isEncrypted: boolean;
  /** The value of `Proxy-Authorization`; undefined without a user name. */
  authorization: string | undefined;
}

/**
 * The user's proxy for a connection, from `HTTPS_PROXY` or, for plain HTTP, `HTTP_PROXY`, unless `NO_PROXY` names the
 * host; names in lower case take precedence. Undefined if the connection is direct.
 *
 * @throws Error for an address that is not that of an HTTP proxy.
 */
export function findUpstreamProxy(
  environment: Environment,
  { host, port }: HostAndPort,
  { isPlainHttp }: { isPlainHttp: boolean },
): UpstreamProxy | undefined {
  const name = isPlainHttp ? "http_proxy" : "https_proxy";
  const address = environment[name] || environment[name.toUpperCase()];
  if (!address || isExcluded(environment.no_proxy || environment.NO_PROXY || "", { host, port }))
    return undefined;
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `http://${address}`);
  const proxyHost = url && toCanonicalHost(url.hostname);
  if (!url || !proxyHost || !["http:", "https:"].includes(url.protocol))
    throw new Error(`${name.toUpperCase()} is not the address of an HTTP proxy`);
  const isEncrypted = url.protocol === "https:";
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    host: proxyHost,
    port: url.port === "" ? (isEncrypted ? 443 : 80) : Number(url.port),
    isEncrypted,
    authorization: user === ":" ? undefined : `Basic ${Buffer.from(user).toString("base64")}`,
  };
}

/** Follows curl's interpretation of `NO_PROXY`: hosts with all of their subdomains, `*` for all. */
function isExcluded(list: string, { host, port }: HostAndPort): boolean {
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const pattern = parseHostPattern(entry.replace(/^\*?\./, ""));
      if ("problem" in pattern) return false;
      const either = [false, true].map((includesSubdomains) => ({ ...pattern, includesSubdomains }));
      return either.some((each) => matchesHostPattern({ port, ...each }, { host, port }));
    });
}
