/** A loopback server that returns the newest version. */
export interface VersionServer extends AsyncDisposable {
  url: string;
  /** Its requests, in order. */
  requests: AskedRequest[];
}

export interface AskedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
}

/** @param answer to every request; unless it is JSON already, it is the version. */
export function startVersionServer(
  answer: (request: Request) => string | Response | Promise<Response>,
): VersionServer {
  const requests: AskedRequest[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // The server never closes a connection: the client has to.
    idleTimeout: 0,
    async fetch(request) {
      requests.push({ method: request.method, url: request.url, headers: request.headers.toJSON() });
      const given = await answer(request);
      return typeof given === "string" ? Response.json({ name: "diligent", version: given }) : given;
    },
  });
  return {
    url: `${server.url.origin}/diligent/latest`,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** An answer that never arrives. */
export function neverAnswer(): Promise<Response> {
  return new Promise(() => {});
}
