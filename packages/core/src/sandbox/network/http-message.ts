import type { HostAndPort } from "../../infrastructure/network/host-pattern.ts";

/** How long the body of a message is. */
export type BodyLength = { kind: "bytes"; count: number } | { kind: "chunked" };

/** The head of a request to a proxy. */
export type ProxyRequest =
  /** The client requests a tunnel to this host. */
  | { kind: "connect"; host: string; port: number }
  | { kind: "forward"; host: string; port: number; request: ForwardedRequest };

/** A request that the proxy itself forwards. */
export interface ForwardedRequest {
  method: string;
  /** Path and query. */
  path: string;
  /** Without headers that concern one connection only, and without `Host`. */
  headers: readonly Header[];
  body: BodyLength;
}

type Header = readonly [name: string, value: string];

/** An invalid or unsupported head; the problem is a sentence. */
export interface RefusedHead {
  status: number;
  problem: string;
}

/** The end of a head. */
export const HEAD_END = "\r\n\r\n";
export const MAX_HEAD_BYTES = 64 * 1024;

const TOKEN = "[!#$%&'*+.^_`|~\\dA-Za-z-]+";
const REQUEST_LINE = new RegExp(`^(${TOKEN}) (\\S+) HTTP/1\\.[01]$`);
const HEADER_LINE = new RegExp(`^(${TOKEN}):[ \\t]*(.*?)[ \\t]*$`);
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is searched for.
const CONTROL_CHARACTER = /[\0-\x08\n-\x1f\x7f]/;

/** Headers that concern one connection only (RFC 9110, 7.6.1), and those that switch to another protocol. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate"],
  ...["te", "trailer", "upgrade", "http2-settings"],
]);

// Which of them `Connection` names makes no difference: without them, a message would have another meaning.
const OF_MESSAGE: ReadonlySet<string> = new Set(["host", "content-length", "transfer-encoding"]);

/**
 * Parses the head of a request. Heads that readers could interpret differently are rejected.
 *
 * @param origin the target of requests that contain only a path; without it, they must name their host.
 */
export function parseProxyRequest(head: Buffer, origin?: HostAndPort): ProxyRequest | RefusedHead {
  const [first = "", ...lines] = head.toString("latin1").slice(0, -HEAD_END.length).split("\r\n");
  const [, method, target] = REQUEST_LINE.exec(first) ?? [];
  const headers = parseHeaders(lines);
  if (method === undefined || target === undefined || headers === undefined)
    return { status: 400, problem: "The request is not valid HTTP." };
  if (method === "CONNECT") {
    const authority = parseAuthority(target, undefined);
    return authority
      ? { kind: "connect", ...authority }
      : { status: 400, problem: "CONNECT needs HOST:PORT." };
  }
  const body = findBodyLength(headers);
  if (body === undefined) return { status: 400, problem: "The length of the request is ambiguous." };
  const place = parseTarget(target, origin);
  if ("problem" in place) return place;
  const { path, ...authority } = place;
  const request = { method, path, body, headers: headersToPassOn(headers, ["host"]) };
  return { kind: "forward", ...authority, request };
}

function parseTarget(
  target: string,
  origin: HostAndPort | undefined,
): (HostAndPort & { path: string }) | RefusedHead {
  if (target.startsWith("/"))
    return origin
      ? { ...origin, path: target }
      : { status: 400, problem: "This is a proxy: a request names its host." };
  const [, scheme = "", written = "", rest = ""] =
    /^([a-z][a-z\d+.-]*):\/\/([^/?#\\]*)([^#\\]*)$/i.exec(target) ?? [];
  const authority = parseAuthority(written, 80);
  if (scheme.toLowerCase() !== "http" || authority === undefined)
    return { status: 400, problem: "The proxy forwards http:// addresses; for others, use CONNECT." };
  // In a tunnel, the host was decided when it was opened.
  const place = origin ?? authority;
  return { ...place, path: rest.startsWith("/") ? rest : `/${rest}` };
}

/** Without a user name, which could be mistaken for the host. */
function parseAuthority(text: string, defaultPort: number | undefined): HostAndPort | undefined {
  const [, host, portText = ""] = /^(\[[^\]@]*\]|[^:@[\]]+)(?::(\d{0,5}))?$/.exec(text) ?? [];
  const port = portText === "" ? defaultPort : Number(portText);
  if (host === undefined || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port };
}

function parseHeaders(lines: readonly string[]): Header[] | undefined {
  const headers: Header[] = [];
  for (const line of lines) {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined || CONTROL_CHARACTER.test(value)) return undefined;
    headers.push([name, value]);
  }
  return headers;
}

/** Undefined if two readers could see different lengths: a second request could be hidden in the difference. */
function findBodyLength(headers: readonly Header[]): BodyLength | undefined {
  const valuesOf = (wanted: string) =>
    headers.flatMap(([name, value]) => (name.toLowerCase() === wanted ? [value] : []));
  const encodings = valuesOf("transfer-encoding");
  const lengths = valuesOf("content-length");
  if (encodings.length > 0)
    return encodings.length === 1 && lengths.length === 0 && encodings[0]?.toLowerCase() === "chunked"
      ? { kind: "chunked" }
      : undefined;
  const [length = "0", ...more] = lengths;
  return more.length === 0 && /^\d{1,15}$/.test(length)
    ? { kind: "bytes", count: Number(length) }
    : undefined;
}

function headersToPassOn(headers: readonly Header[], dropped: readonly string[] = []): Header[] {
  const named = headers
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.toLowerCase().split(","))
    .map((name) => name.trim())
    .filter((name) => !OF_MESSAGE.has(name));
  const leftOut = new Set([...OF_CONNECTION, ...named, ...dropped]);
  return headers.filter(([name]) => !leftOut.has(name.toLowerCase()));
}

/**
 * The head of a forwarded request: `Host` is the evaluated host, whatever the client wrote there, and no second
 * request follows on the connection.
 *
 * @param proxy how it is sent to another proxy: with the whole address, and its authorization.
 */
export function formatForwardedHead(
  { method, path, headers }: ForwardedRequest,
  target: HostAndPort,
  proxy?: { authorization: string | undefined },
): string {
  const host = toHostHeader(target);
  const authorization = proxy?.authorization;
  const lines = [
    `${method} ${proxy ? `http://${host}` : ""}${path} HTTP/1.1`,
    `Host: ${host}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(authorization === undefined ? [] : [`Proxy-Authorization: ${authorization}`]),
    "Connection: close",
  ];
  return lines.join("\r\n") + HEAD_END;
}

function toHostHeader({ host, port }: HostAndPort): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === 80 ? name : `${name}:${port}`;
}

/** The head of an answer for the client, which then expects the end of the connection. */
export function toAnswerHead(head: Buffer): { text: string; isFinal: boolean } | undefined {
  const [first = "", ...lines] = head.toString("latin1").slice(0, -HEAD_END.length).split("\r\n");
  const [, digits] = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/.exec(first) ?? [];
  const headers = parseHeaders(lines);
  const status = Number(digits);
  // The client requested no protocol that the connection could switch to.
  if (headers === undefined || Number.isNaN(status) || status < 100 || status === 101) return undefined;
  const isFinal = status >= 200;
  const passed = headersToPassOn(headers).map(([name, value]) => `${name}: ${value}`);
  const text = [first, ...passed, ...(isFinal ? ["Connection: close"] : [])].join("\r\n") + HEAD_END;
  return { text, isFinal };
}

/** An answer of the proxy itself; the text is for the reader of the client's output. */
export function formatProxyAnswer(status: number, text: string): string {
  const reason = status === 403 ? "Forbidden" : status === 400 ? "Bad Request" : "Bad Gateway";
  const body = `${text}\n`;
  return [
    `HTTP/1.1 ${status} ${reason}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}
