import { toCanonicalHost } from "../../infrastructure/network/addresses.ts";
import { toHostPatternText } from "../../infrastructure/network/host-pattern.ts";

/** The address of a page. `host` is canonical. */
export interface WebAddress {
  /** Without a fragment, a user name or a password. */
  url: URL;
  host: string;
  port: number;
}

// Servers refuse longer ones.
const MAX_CHARACTERS = 8_192;
const SHOWN_CHARACTERS = 200;

/** Parses the address of a page; `problem` is a sentence for the model. */
export function parseWebAddress(text: string): WebAddress | { problem: string } {
  const given = text.trim();
  if (given.length > MAX_CHARACTERS)
    return { problem: `The address has ${given.length} characters; at most ${MAX_CHARACTERS} are possible.` };
  // A bare host and path, as people write it.
  const isBare = /^[\w-]+(?:\.[\w-]+)+(?::\d{1,5})?(?:[/?#]|$)/.test(given);
  const url = URL.parse(isBare ? `https://${given}` : given);
  if (!url) return { problem: `${showAddress(given)} is not an address such as https://example.com/page.` };
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return { problem: `${showAddress(given)}: only http and https addresses are fetched.` };
  if (url.username !== "" || url.password !== "")
    return { problem: "An address with a user name or password is not fetched: leave both out." };
  const host = toCanonicalHost(url.hostname);
  if (host === undefined) return { problem: `${showAddress(given)} does not name a valid host.` };
  url.hash = "";
  const isPlain = url.protocol === "http:";
  return { url, host, port: url.port === "" ? (isPlain ? 80 : 443) : Number(url.port) };
}

/** True if an approval of one host also covers the other: equal hosts, and equal ports but for 80 and 443. */
export function isSameHost(left: WebAddress, right: WebAddress): boolean {
  return toHostPatternText(left) === toHostPatternText(right);
}

/** An address in a message: on one line and shortened. */
export function showAddress(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ");
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : line;
}

/** The request for approval to connect to a page's host. The whole address is shown: it may carry data away. */
export function toFetchRequest({ url, host, port }: WebAddress) {
  return {
    permission: "fetch" as const,
    toolName: "web_fetch",
    description: `web_fetch: ${url.href}`,
    details: { host, port, url: url.href },
  };
}
