import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { type SseServer, startSseServer, toSse } from "../../../core/test/support/sse-server.ts";
import {
  CAN_ISSUE_CERTIFICATES,
  type CertificateAuthority,
  createAuthority,
} from "../support/certificate-authority.ts";
import { startForwardProxy } from "../support/forward-proxy.ts";
import { runDiligent, startDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { environmentFor, SERVICES, type VendorService, wholeReply } from "../support/vendor-service.ts";

// Below a name that nobody can register, so that only a proxy can resolve it.
const HOST = "api.example.test";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

function run(service: VendorService, baseUrl: string, more: Record<string, string> = {}) {
  return runDiligent(place, ["-p", "go"], { environment: { ...environmentFor(service, baseUrl), ...more } });
}

function startServer(service: VendorService): Promise<SseServer> {
  return startSseServer(wholeReply(service, { text: "Reached." }));
}

/** Reports the error of the first attempt, and how soon it came; later attempts are not awaited. */
async function firstComplaint(service: VendorService, baseUrl: string, more: Record<string, string> = {}) {
  const startedAt = performance.now();
  const running = startDiligent(place, ["-p", "go"], {
    environment: { ...environmentFor(service, baseUrl), ...more },
  });
  await running.shown(" s.\n");
  const durationMs = performance.now() - startedAt;
  running.process.kill("SIGTERM");
  const { stderr } = await running.ended;
  return { line: stderr.split("\n")[0], durationMs };
}

describe.each(SERVICES)("the requests to $name", (service) => {
  for (const variable of ["HTTP_PROXY", "http_proxy"]) {
    test(`go through the proxy in ${variable}`, async () => {
      await using server = await startServer(service);
      await using proxy = await startForwardProxy(server.url);
      const { stdout } = await run(service, `http://${HOST}`, { [variable]: proxy.url });
      expect([stdout, proxy.requests]).toEqual([
        "Reached.\n",
        [`POST http://${HOST}${service.path} HTTP/1.1`],
      ]);
      expect(server.requests.map(({ path, headers }) => [path, headers.host])).toEqual([
        [service.path, HOST],
      ]);
    });
  }

  test("bypass the proxy for a host in NO_PROXY", async () => {
    await using server = await startServer(service);
    await using proxy = await startForwardProxy(server.url);
    const { line } = await firstComplaint(service, `http://${HOST}`, {
      HTTP_PROXY: proxy.url,
      NO_PROXY: "example.test",
    });
    expect([line, proxy.requests]).toEqual([expect.stringContaining("ENOTFOUND"), []]);
  });

  for (const host of ["127.0.0.1", "localhost"]) {
    test(`bypass the proxy for ${host}`, async () => {
      await using server = await startServer(service);
      const proxy = "http://127.0.0.1:1";
      const url = server.url.replace("127.0.0.1", host);
      const proxies = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, http_proxy: proxy };
      expect((await run(service, url, proxies)).stdout).toBe("Reached.\n");
    });
  }

  test("never follow a redirect with the key", async () => {
    await using other = await startServer(service);
    for (const status of [301, 302, 303, 307, 308]) {
      const headers = { location: `${other.url}${service.path}` };
      await using server = await startSseServer({ status, headers, body: "" });
      const { stderr, exitCode } = await run(service, server.url);
      expect([exitCode, stderr, server.requests.length]).toEqual([
        1,
        expect.stringContaining(`answered ${status}, a redirect to ${new URL(other.url).host}.`),
        1,
      ]);
    }
    expect(other.requests).toEqual([]);
  });

  for (const [trouble, baseUrl, reason] of [
    ["a host that nobody knows", "http://nobody.invalid", "ENOTFOUND"],
    ["a port that nobody listens at", "http://127.0.0.1:1", "ECONNREFUSED"],
  ] as const) {
    test(`report within 2 s that they cannot reach ${trouble}, and are retried`, async () => {
      const { line, durationMs } = await firstComplaint(service, baseUrl);
      expect(line).toContain(`The request to ${new URL(baseUrl).host} failed: `);
      expect(line).toContain(reason);
      expect(line).toContain(`Check the network, HTTPS_PROXY and ${service.urlVariable}.`);
      expect(line).toMatch(/Attempt 2 in [\d.]+ s\.$/);
      expect(durationMs).toBeLessThan(2_000 + BUSY_MS);
    });
  }

  test("report within 2 s that the server does not speak TLS", async () => {
    await using server = await startServer(service);
    const { line, durationMs } = await firstComplaint(service, server.url.replace("http:", "https:"));
    expect(line).toMatch(/The request to 127\.0\.0\.1:\d+ failed: .*TLS.*\. Check .*Attempt 2 in/);
    expect(durationMs).toBeLessThan(2_000 + BUSY_MS);
  });

  test("are not sent if a certificate file does not exist", async () => {
    await using server = await startServer(service);
    for (const variable of ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]) {
      const { stderr, exitCode } = await run(service, server.url, { [variable]: "/nowhere/ca.pem" });
      expect([exitCode, stderr]).toEqual([
        2,
        `diligent: ${variable} is not a usable certificate file: /nowhere/ca.pem does not exist. Correct or unset it.\n`,
      ]);
    }
    expect(server.requests).toEqual([]);
  });
});

describe.skipIf(!CAN_ISSUE_CERTIFICATES)("a certificate authority of the user (made with openssl)", () => {
  let directory: string;
  let authority: CertificateAuthority;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "diligent-authority-"));
    authority = createAuthority(directory, HOST);
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** A service behind TLS that can only be reached through the returned proxy. */
  function startSecureServer(service: VendorService) {
    const seen: (string | null)[] = [];
    const body = toSse(service.events({ text: "Reached." }));
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert: authority.certificate, key: authority.key },
      fetch(request) {
        seen.push(request.headers.get("authorization"));
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      },
    });
    return { url: server.url.href, seen, [Symbol.asyncDispose]: () => server.stop(true) };
  }

  describe.each(SERVICES)("for $name", (service) => {
    for (const variable of ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]) {
      test(`is trusted if ${variable} names it, through the proxy in HTTPS_PROXY`, async () => {
        await using server = startSecureServer(service);
        await using proxy = await startForwardProxy(server.url);
        const environment = { HTTPS_PROXY: proxy.url, [variable]: authority.path };
        const { stdout, stderr } = await run(service, `https://${HOST}`, environment);
        expect([stdout, stderr, proxy.requests, server.seen]).toEqual([
          "Reached.\n",
          "",
          [`CONNECT ${HOST}:443 HTTP/1.1`],
          ["Bearer test-key"],
        ]);
      });
    }

    test("is not trusted unless it is named, which is reported at once with a hint", async () => {
      await using server = startSecureServer(service);
      await using proxy = await startForwardProxy(server.url);
      const { stderr, exitCode, durationMs } = await run(service, `https://${HOST}`, {
        HTTPS_PROXY: proxy.url,
      });
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(
          /^diligent: The request to api\.example\.test failed: .*NODE_EXTRA_CA_CERTS.*\n$/,
        ),
      ]);
      expect([server.seen, durationMs < 2_000 + BUSY_MS]).toEqual([[], true]);
    });

    test("is not looked for in a directory", async () => {
      const path = join(place.top, "authorities");
      mkdirSync(path);
      const { stderr, exitCode } = await run(service, `https://${HOST}`, { NODE_EXTRA_CA_CERTS: path });
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${path} is a directory.`)]);
    });
  });
});
