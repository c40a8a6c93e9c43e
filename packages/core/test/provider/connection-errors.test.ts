import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CAN_ISSUE_CERTIFICATES,
  type CertificateAuthority,
  createAuthority,
} from "../../../cli/test/support/certificate-authority.ts";
import { createAnthropicStream } from "../../src/provider/anthropic.ts";
import { describeConnectionFailure, toConnectionError } from "../../src/provider/classify-error.ts";
import { createCompatibleStream } from "../../src/provider/compatible.ts";
import type { ProviderError } from "../../src/provider/errors.ts";
import { createOpenAIStream } from "../../src/provider/openai.ts";
import type { StreamFunction } from "../../src/provider/types.ts";
import { user } from "../support/messages.ts";
import { TEST_MODEL } from "../support/models.ts";

const PROVIDERS: readonly (readonly [variable: string, create: (baseUrl: string) => StreamFunction])[] = [
  ["ANTHROPIC_BASE_URL", (baseUrl) => createAnthropicStream("key", baseUrl)],
  ["OPENAI_BASE_URL", (baseUrl) => createOpenAIStream("key", baseUrl)],
  [
    "provider.compatible.local.baseUrl",
    (baseUrl) => createCompatibleStream("local", { baseUrl: `${baseUrl}/v1`, apiKey: "key" }),
  ],
];

async function failureOf(stream: StreamFunction): Promise<Pick<ProviderError, "errorType" | "message">> {
  const context = { systemPrompt: "", messages: [user("go")], tools: [] };
  const error = await stream(TEST_MODEL, context, {})
    .result()
    .catch((thrown: ProviderError) => thrown);
  return error instanceof Error ? error : { errorType: "unknown", message: "there was an answer" };
}

/** A TCP server that does `serve` with each connection once something has come in. */
async function startTcp(
  serve: (socket: Socket) => void,
): Promise<{ host: string; server: Server } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => serve(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    host: `127.0.0.1:${address.port}`,
    server,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const BUN_TEXT = /verbose: true|fetch\(\)|fetching "|Is the computer able|getaddrinfo/;

describe.each(PROVIDERS)("a request that fails in transit, with %s", (setting, create) => {
  test("names the host and what to check if the connection is reset", async () => {
    await using tcp = await startTcp((socket) => socket.resetAndDestroy());
    expect(await failureOf(create(`http://${tcp.host}`))).toMatchObject({
      errorType: "network",
      message: `The request to ${tcp.host} failed: the connection was closed before the answer was complete (ECONNRESET). Check the network, HTTPS_PROXY and ${setting}, then try again.`,
    });
  });

  test("reports that the server closed the connection in the middle of the answer", async () => {
    await using tcp = await startTcp((socket) => {
      socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 999\r\n\r\nevent: ");
    });
    const { message } = await failureOf(create(`http://${tcp.host}`));
    expect(message).toStartWith(`The request to ${tcp.host} failed: the connection was closed before`);
  });

  test("a response that is not HTTP is reported and not retried", async () => {
    await using tcp = await startTcp((socket) => socket.end("220 mail.example ESMTP\r\n"));
    expect(await failureOf(create(`http://${tcp.host}`))).toMatchObject({
      errorType: "invalid_response",
      message: `The request to ${tcp.host} failed: the response is not valid HTTP (Malformed_HTTP_Response). Check HTTPS_PROXY and ${setting}.`,
    });
  });

  test("reports damaged compressed data", async () => {
    await using tcp = await startTcp((socket) => {
      socket.end("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc");
    });
    expect(await failureOf(create(`http://${tcp.host}`))).toMatchObject({
      errorType: "stream_cut",
      message: `The request to ${tcp.host} failed: the response was damaged in transit (ZlibError). Try again.`,
    });
  });

  test("reports a server that does not speak TLS", async () => {
    await using tcp = await startTcp((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    expect(await failureOf(create(`https://${tcp.host}`))).toMatchObject({
      errorType: "network",
      message: `The request to ${tcp.host} failed: the TLS handshake failed, so the server may not speak https there (EPROTO). Check the network, HTTPS_PROXY and ${setting}.`,
    });
  });

  test("reports a host without an address", async () => {
    expect(await failureOf(create("http://nobody.invalid"))).toMatchObject({
      errorType: "network",
      message: `The request to nobody.invalid failed: the host name was not found (ENOTFOUND). Check the network, HTTPS_PROXY and ${setting}.`,
    });
  });
});

test.each(PROVIDERS.slice(0, 2))(
  "a request to a port without a listener reports a refused connection, with %s",
  async (setting, create) => {
    const tcp = await startTcp(() => {});
    await tcp[Symbol.asyncDispose]();
    expect(await failureOf(create(`http://${tcp.host}`))).toMatchObject({
      errorType: "network",
      message: `The request to ${tcp.host} failed: the connection was refused (ECONNREFUSED). Check the network, HTTPS_PROXY and ${setting}.`,
    });
  },
);

describe.skipIf(!CAN_ISSUE_CERTIFICATES)("a certificate (made with openssl)", () => {
  let directory: string;
  let authority: CertificateAuthority;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "diligent-certificate-"));
    authority = createAuthority(directory, "api.example.test");
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test.each(PROVIDERS)("from an unknown issuer is named as the reason, with %s", async (_, create) => {
    using server = Bun.serve({
      port: 0,
      tls: { cert: authority.certificate, key: authority.key },
      fetch: () => new Response("never"),
    });
    const { errorType, message } = await failureOf(create(`https://localhost:${server.port}`));
    expect(errorType).toBe("unknown");
    expect(message).toMatch(
      /^The request to localhost:\d+ failed: its certificate is not trusted \([A-Z_]+\)\. Set NODE_EXTRA_CA_CERTS to a file with the certificate of its issuer\.$/,
    );
  });

  test("for another name is named as the reason", async () => {
    using server = Bun.serve({
      port: 0,
      tls: { cert: authority.certificate, key: authority.key },
      fetch: () => new Response("never"),
    });
    const ca = await Bun.file(authority.path).text();
    const failure: unknown = await fetch(`https://localhost:${server.port}`, { tls: { ca } }).catch(
      (error: unknown) => error,
    );
    expect(describeConnectionFailure(failure)).toBe(
      "its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)",
    );
  });
});

test("an unknown failure keeps its message without the hints for developers of Bun", () => {
  const endpoint = { host: "api.example", apiKey: "sk-secret" };
  const vendor = {
    ...{ name: "Example", keyVariable: "EXAMPLE_KEY", urlVariable: "EXAMPLE_URL" },
    keyPlaceholder: "[key of example]",
  };
  const error = Object.assign(
    new TypeError(
      'Strange fetching "https://api.example/v1?sk-secret". For more information, pass `verbose: true` in the second argument to fetch()',
    ),
    { code: "Strange" },
  );
  const { message } = toConnectionError(error, endpoint, vendor);
  expect(message).toBe(
    "The request to api.example failed: Strange. Check the network, HTTPS_PROXY and EXAMPLE_URL, then try again.",
  );
  expect(message).not.toMatch(BUN_TEXT);
});

test("a request beyond its time limit names the host and what to do", () => {
  const endpoint = { host: "api.example", apiKey: "" };
  const vendor = {
    ...{ name: "Example", keyVariable: "EXAMPLE_KEY", urlVariable: "EXAMPLE_URL" },
    keyPlaceholder: "[key of example]",
  };
  const error = new DOMException("The operation timed out.", "TimeoutError");
  expect(toConnectionError(error, endpoint, vendor)).toMatchObject({
    errorType: "timeout",
    message:
      "The request to api.example failed: the server did not answer in time. Check the network and HTTPS_PROXY, then try again.",
  });
});
