/** A server on loopback that is asked for the newest version. */
export interface VersionServer extends AsyncDisposable {
  url: string;
  /** What it was asked, in order. */
  requests: AskedRequest[];
}

export interface AskedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
}

/** @param answer to every request; what is not JSON already is made of a version. */
export function startVersionServer(
  answer: (request: Request) => string | Response | Promise<Response>,
): VersionServer {
  const requests: AskedRequest[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // The server gives up nobody: whoever asks has to.
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

/** An answer that never comes. */
export function neverAnswer(): Promise<Response> {
  return new Promise(() => {});
}
