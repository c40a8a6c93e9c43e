import { expect, test } from "bun:test";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { askForVersion, findRedirect } from "../../src/update/update.ts";
import { neverAnswer, startVersionServer } from "../support/version-server.ts";

// A local answer is awaited however busy the machine is.
const PATIENT = { timeoutMs: 4 * BUSY_MS };

const failure = (asking: Promise<string>) => asking.then(String, (error: unknown) => String(error));

test("askForVersion() sends one GET without data about the user", async () => {
  await using server = startVersionServer(() => "0.3.0");
  expect(await askForVersion(`${server.url}?channel=stable`, PATIENT)).toBe("0.3.0");
  const headers = {
    accept: "application/json",
    "accept-encoding": "identity",
    host: new URL(server.url).host,
    "user-agent": "diligent",
  };
  expect(server.requests).toEqual([{ method: "GET", url: `${server.url}?channel=stable`, headers }]);
});

test("askForVersion() does not return a server's cookies", async () => {
  await using server = startVersionServer(({ url }) =>
    url.endsWith("/next")
      ? "0.3.0"
      : new Response(null, { status: 302, headers: { location: "/next", "set-cookie": "id=1" } }),
  );
  expect(await askForVersion(server.url, PATIENT)).toBe("0.3.0");
  expect(server.requests.map(({ url, headers }) => [new URL(url).pathname, headers.cookie])).toEqual([
    ["/diligent/latest", undefined],
    ["/next", undefined],
  ]);
});

test.each([
  ["an error", () => new Response("{}", { status: 500 }), "the server answered 500"],
  ["a page", () => new Response("<html>0.3.0</html>"), "the answer is not valid JSON"],
  ["nothing", () => new Response(null), "the answer is not valid JSON"],
  [
    "bytes that are not text",
    () => new Response(new Uint8Array([0x22, 0xff, 0x22])),
    "the answer is not valid JSON",
  ],
  ["nested lists", () => new Response("[".repeat(60_000)), "the answer is not valid JSON"],
  ["a list", () => Response.json(["0.3.0"]), "the answer contains no version"],
  ["null", () => Response.json(null), "the answer contains no version"],
  ["an object without a version", () => Response.json({ latest: "0.3.0" }), "the answer contains no version"],
  ["garbage", () => Response.json({ version: "\x1b[2J9.9.9" }), "the answer contains no version"],
  ["a number", () => Response.json({ version: 3 }), "the answer contains no version"],
  [
    "a compressed body",
    () =>
      new Response(Bun.gzipSync(JSON.stringify({ version: "0.3.0" })), {
        headers: { "content-encoding": "gzip" },
      }),
    "the answer is not valid JSON",
  ],
  [
    "a redirect to http elsewhere",
    () => new Response(null, { status: 301, headers: { location: "http://elsewhere.invalid/latest" } }),
    "it redirects to an address that is not allowed",
  ],
  [
    "a redirect to nowhere",
    () => new Response(null, { status: 302 }),
    "it redirects to an address that is not allowed",
  ],
  [
    "a redirect to a file",
    () => new Response(null, { status: 307, headers: { location: "file:///etc/passwd" } }),
    "it redirects to an address that is not allowed",
  ],
  [
    "endless redirects",
    () => new Response(null, { status: 308, headers: { location: "/diligent/latest" } }),
    "it redirects more than 3 times",
  ],
] as const)("askForVersion() rejects %s", async (_, answer, reason) => {
  await using server = startVersionServer(answer);
  expect(await failure(askForVersion(server.url, PATIENT))).toBe(`UpdateError: ${reason}`);
});

test.each([
  ["said before", true],
  ["not said", false],
])("askForVersion() does not read ten megabytes, with their length %s", async (_, isSaid) => {
  const left = Promise.withResolvers<void>();
  let sent = 0;
  await using server = startVersionServer(() => {
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // Leaves time to cancel.
        await Bun.sleep(1);
        sent += 32 * 1024;
        controller.enqueue(new Uint8Array(32 * 1024).fill(0x20));
        if (sent >= 10 * 1024 * 1024) controller.close();
      },
      cancel: () => left.resolve(),
    });
    return new Response(isSaid ? new Uint8Array(10 * 1024 * 1024) : body);
  });
  expect(await failure(askForVersion(server.url, PATIENT))).toBe(
    "UpdateError: the answer has more than 65536 bytes",
  );
  if (!isSaid) await left.promise;
  expect(sent).toBeLessThan(10 * 1024 * 1024);
});

test("askForVersion() accepts an answer of 64 KB", async () => {
  const start = '{"version":"0.3.0","readme":"';
  const text = `${start}${"x".repeat(64 * 1024 - start.length - 2)}"}`;
  await using server = startVersionServer(() => new Response(text));
  expect([text.length, await askForVersion(server.url, PATIENT)]).toEqual([65_536, "0.3.0"]);
});

test.each([
  ["before", neverAnswer],
  ["behind", trickle],
] as const)(
  "askForVersion() gives up a server that goes silent %s its headers at the time limit, and when cancelled",
  async (_, answer) => {
    await using server = startVersionServer(answer);
    expect(await failure(askForVersion(server.url, { timeoutMs: 50 }))).toBe(
      "UpdateError: no answer within 0.05 s",
    );
    const leaving = new AbortController();
    const asking = failure(askForVersion(server.url, { ...PATIENT, signal: leaving.signal }));
    while (server.requests.length < 2) await Bun.sleep(1);
    leaving.abort();
    expect(await asking).toBe("UpdateError: the program quit meanwhile");
  },
);

/** The headers and the first byte, and nothing more. */
async function trickle(): Promise<Response> {
  let isSent = false;
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (isSent) return new Promise(() => {});
        isSent = true;
        controller.enqueue(new TextEncoder().encode("{"));
        return undefined;
      },
    }),
  );
}

test("askForVersion() does not reveal the address in its errors", async () => {
  const { url } = await closedServer();
  expect(await failure(askForVersion(`${url}?token=secret`, PATIENT))).toBe("UpdateError: ECONNREFUSED");
});

/** Nobody listens there any more. */
async function closedServer() {
  await using server = startVersionServer(() => "0.3.0");
  return { url: server.url };
}

test.each([
  ["https://a.example/x", "/y", "https://a.example/y"],
  ["https://a.example/x", "https://b.example/y", "https://b.example/y"],
  ["https://a.example/x", "http://a.example/x", undefined],
  ["https://a.example/x", "https://u:p@a.example/x", undefined],
  ["https://a.example/x", "https://127.0.0.1/x", undefined],
  ["https://a.example/x", "http://localhost:8080/x", undefined],
  ["http://localhost:8080/x", "http://127.0.0.1:8081/x", "http://127.0.0.1:8081/x"],
  ["http://localhost:8080/x", "https://a.example/x", "https://a.example/x"],
  ["https://a.example/x", "https://", undefined],
  ["https://a.example/x", null, undefined],
])("a redirect from %p to %p leads to %p", (from, location, expected) => {
  expect(findRedirect(from, location)).toBe(expected);
});

test("askForVersion() reports each connection, also that of a redirect, with what allows it", async () => {
  await using server = startVersionServer((request) =>
    request.url.endsWith("/next") ? "0.3.0" : Response.redirect("/next", 302),
  );
  const connections: object[] = [];
  const watch = (connection: object) => void connections.push(connection);
  await askForVersion(server.url, { ...PATIENT, watch });
  const connection = {
    host: "127.0.0.1",
    port: Number(new URL(server.url).port),
    purpose: "update",
    allowed: true,
    by: 'the setting "updateUrl"',
    bytes: expect.any(Number),
  };
  expect(connections).toEqual([connection, connection]);
});
