import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { compatibleReply, writeUserConfig } from "../support/compatible-service.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { environmentFor, SERVICES, wholeReply } from "../support/vendor-service.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

describe("the requests to the model's provider", () => {
  for (const service of SERVICES)
    test(`are network events with their sizes and kept in the session, retries included: ${service.name}`, async () => {
      await using server = await startSseServer(service.overloaded, wholeReply(service, { text: "Hello." }));
      const environment = environmentFor(service, server.url);
      const words = ["-p", "hi", "--output-format", "stream-json"];
      const { stdout, exitCode } = await runDiligent(place, words, { environment });
      expect(exitCode).toBe(0);
      const connection = {
        host: "127.0.0.1",
        port: Number(new URL(server.url).port),
        allowed: true,
        by: "the model's provider",
        purpose: "provider",
        bytes: expect.any(Number),
        bytesSent: expect.any(Number),
      };
      const events = parseLines(stdout).filter(({ type }) => type === "network");
      expect(events).toEqual([
        { type: "network", ...connection },
        { type: "network", ...connection },
      ]);
      const sent = server.requests.map(({ body }) => Buffer.byteLength(JSON.stringify(body)));
      expect(events.map(({ bytesSent }) => bytesSent)).toEqual(sent);
      const { stdout: listed } = await runDiligent(place, ["network", "--json"]);
      expect(JSON.parse(listed)).toEqual([{ ...connection, connections: 2 }]);
    });
});

describe("with --only-host", () => {
  const [service = SERVICES[0]] = SERVICES;

  test("a provider that it does not name is refused like a wrong configuration, with the host and the option", async () => {
    await using server = await startSseServer();
    if (!service) throw new Error("there is no service");
    const environment = environmentFor(service, server.url);
    const words = ["-p", "hi", "--only-host", "example.com,*.example.org"];
    const { stderr, exitCode } = await runDiligent(place, words, { environment });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`--only-host does not name ${new URL(server.url).host}`);
    expect(server.requests).toEqual([]);
  });

  test("a named provider answers, and its connections name the entry", async () => {
    await using server = await startSseServer(compatibleReply({ text: "Hello." }));
    writeUserConfig(place, { provider: { compatible: { local: { baseUrl: `${server.url}/v1` } } } });
    const { host } = new URL(server.url);
    const words = ["-p", "hi", "-m", "local/any", "--only-host", "example.com", "--only-host", host];
    const { stdout, exitCode } = await runDiligent(place, words);
    expect([stdout, exitCode]).toEqual(["Hello.\n", 0]);
    const { stdout: listed } = await runDiligent(place, ["network", "--json"]);
    expect(JSON.parse(listed)).toMatchObject([{ by: `the entry ${host} of --only-host` }]);
  });

  test("a list with an entry that is no host sends nothing", async () => {
    for (const list of ["https://example.com", "*", "", "a,,b"]) {
      const { stderr, exitCode } = await runDiligent(place, ["-p", "hi", "--only-host", list]);
      expect([list, exitCode]).toEqual([list, 2]);
      expect(stderr).toContain("--only-host");
    }
  });
});
