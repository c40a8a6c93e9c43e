import type { ConnectionPurpose, NetworkConnection, WatchConnection } from "./connection.ts";
import { assertWithinLimit, findLimitEntry, findLimitRefusal, toHostAndPort } from "./host-limit.ts";

/** What a request of the program is for, and who is told of it. */
export interface ProgramRequests {
  purpose: Exclude<ConnectionPurpose, "command">;
  /** What allows it if no limit does, a clause such as `the setting "updateUrl"`. */
  by: string;
  /** The server or hook that it belongs to, if there are several. */
  command?: string | undefined;
  /** Left out where no session is open. */
  watch?: WatchConnection | undefined;
}

/** As `fetch`, with an address in text or as a URL. */
export type ProgramFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const NULL_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * The one way in which the program itself sends requests: each is held to the hosts of `--only-host`, and its
 * connection is counted. Redirects that are to be followed are followed here, each as a connection of its own.
 * @throws HostLimitError, and what `fetch` throws.
 */
export function createProgramFetch(requests: ProgramRequests): ProgramFetch {
  return async (url, init = {}) => {
    let href = String(url);
    let options = init;
    for (let redirects = 0; ; redirects++) {
      const response = await send(href, options, requests);
      const location = response.headers.get("location");
      const isFollowed = (init.redirect ?? "follow") === "follow" && REDIRECTS.has(response.status);
      const target = location === null ? undefined : URL.parse(location, href)?.href;
      if (!isFollowed || target === undefined || redirects === MAX_REDIRECTS) return response;
      await response.body?.cancel();
      options = toRedirected(options, { status: response.status, from: href, to: target });
      href = target;
    }
  };
}

/** Another host gets no credentials; what is not a GET becomes one where browsers do that, too. */
function toRedirected(
  init: RequestInit,
  { status, from, to }: { status: number; from: string; to: string },
): RequestInit {
  const headers = new Headers(init.headers);
  if (URL.parse(from)?.origin !== URL.parse(to)?.origin)
    for (const name of ["authorization", "cookie", "proxy-authorization"]) headers.delete(name);
  const method = (init.method ?? "GET").toUpperCase();
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  if (!becomesGet) return { ...init, headers };
  for (const name of ["content-type", "content-length"]) headers.delete(name);
  const { body: _, ...rest } = init;
  return { ...rest, method: "GET", headers };
}

async function send(
  href: string,
  init: RequestInit,
  { purpose, by, command, watch }: ProgramRequests,
): Promise<Response> {
  const wanted = toHostAndPort(href);
  const refusal = wanted && findLimitRefusal(wanted);
  const sent = countBody(init.body);
  const connection: NetworkConnection | undefined = wanted && {
    ...wanted,
    allowed: refusal === undefined,
    by: refusal ?? findLimitEntry(wanted) ?? by,
    bytes: 0,
    purpose,
    ...(command !== undefined && { command }),
  };
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  if (connection) watch?.(connection, ended);
  try {
    assertWithinLimit(href);
    if (connection && sent > 0) Object.assign(connection, { bytes: sent, bytesSent: sent });
    const response = await fetch(href, { ...init, redirect: init.redirect === "error" ? "error" : "manual" });
    if (!connection) return response;
    return countResponse(response, { href, connection, end });
  } catch (error) {
    if (connection?.allowed) connection.problem = describe(error);
    end();
    throw error;
  }
}

/** Without the address, which may contain a key. */
function describe(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code === "string" && code !== "") return code;
  return error instanceof Error && error.name !== "Error" ? error.name : "no answer";
}

/** Zero for a stream, whose size is not known. */
function countBody(body: unknown): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  if (body instanceof URLSearchParams) return Buffer.byteLength(body.toString());
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return body.byteLength;
  return body instanceof Blob ? body.size : 0;
}

interface CountedConnection {
  href: string;
  connection: NetworkConnection;
  end(): void;
}

/** The same response, whose body is counted while it is read. */
function countResponse(response: Response, { href, connection, end }: CountedConnection): Response {
  const { body, status, statusText, headers } = response;
  if (!body || NULL_BODY.has(status)) {
    end();
    return response;
  }
  const reader = body.getReader();
  const counted = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          connection.bytes += value.byteLength;
          return controller.enqueue(value);
        }
        end();
        controller.close();
      } catch (error) {
        connection.problem = describe(error);
        end();
        controller.error(error);
      }
    },
    cancel(reason) {
      end();
      return reader.cancel(reason);
    },
  });
  const copy = new Response(counted, { status, statusText, headers });
  Object.defineProperty(copy, "url", { value: response.url || href });
  return copy;
}
