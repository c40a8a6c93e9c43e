import { afterAll, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { NetworkConnection } from "../../../src/infrastructure/network/connection.ts";
import { endAllProcesses } from "../../../src/infrastructure/process/all-processes.ts";
import type { ApprovalRequest, ApprovalResponse } from "../../../src/tool/types.ts";
import { findBoxProblem, makeBoxedProject } from "../../support/boxed-project.ts";
import { findProcessesByVariable } from "../../support/process-census.ts";

const problem = await findBoxProblem();

const asked: ApprovalRequest[] = [];
const server = createServer((request, response) => response.end(`served ${request.url}`));
const listening = Promise.withResolvers<void>();
server.listen(0, "127.0.0.1", listening.resolve);
await listening.promise;
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;

afterAll(async () => {
  await endAllProcesses();
  server.close();
});

async function makeProject(allow: readonly string[]) {
  const connections: NetworkConnection[] = [];
  const waiting: (() => void)[] = [];
  const place = await makeBoxedProject({
    network: {
      setting: { allow },
      isChosen: true,
      onConnection(connection) {
        connections.push(connection);
        for (const resolve of waiting.splice(0)) resolve();
      },
    },
  });
  const reported = async (count: number) => {
    while (connections.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    return connections;
  };
  return { ...place, connections, reported };
}

const findRelays = (session: string) =>
  findProcessesByVariable("DILIGENT_RELAY_SOCKET", `${session}/network.sock`);

/** Through the proxy although the address is loopback, which `NO_PROXY` excludes. */
const curl = `curl -sS -m 10 --noproxy ''`;

describe.skipIf(problem !== undefined)("a sandboxed command with a list of hosts", () => {
  test("reaches a listed one by HTTP, by a tunnel and by SOCKS, and each connection is reported with it", async () => {
    const { run, reported } = await makeProject([`127.0.0.1:${port}`]);
    const url = `http://127.0.0.1:${port}`;
    const command = `${curl} ${url}/a; ${curl} -p ${url}/b; ${curl} -x $ALL_PROXY ${url}/c`;
    const { output, isError } = await run(command);
    expect(output).toBe("served /aserved /bserved /c");
    expect(isError).toBe(false);
    const connections = await reported(3);
    expect(connections.slice(0, 3)).toEqual(
      [1, 2, 3].map(() => ({
        host: "127.0.0.1",
        port,
        allowed: true,
        by: `the entry 127.0.0.1:${port}`,
        bytes: expect.any(Number),
        command,
      })),
    );
  });

  test("has its variables, and reaches the session's own servers without the proxy", async () => {
    const { run, connections } = await makeProject(["a.example"]);
    const serve = `bun -e 'const s = Bun.serve({ port: 0, fetch: () => new Response("own") }); console.log(s.port)' > port 2>&1 & for i in $(seq 100); do [ -s port ] && break; sleep 0.05; done`;
    const { output } = await run(
      `${serve}; curl -sS http://localhost:$(cat port)/; kill %1; env | grep -i _proxy | sort`,
    );
    expect(
      output
        .replace(/:\d{4,5}\b/g, ":PORT")
        .split("\n")
        .slice(0, 9),
    ).toEqual([
      "ownALL_PROXY=socks5h://127.0.0.1:PORT",
      "HTTPS_PROXY=http://127.0.0.1:PORT",
      "HTTP_PROXY=http://127.0.0.1:PORT",
      "NODE_USE_ENV_PROXY=1",
      "NO_PROXY=localhost,127.0.0.1,::1",
      "all_proxy=socks5h://127.0.0.1:PORT",
      "http_proxy=http://127.0.0.1:PORT",
      "https_proxy=http://127.0.0.1:PORT",
      "no_proxy=localhost,127.0.0.1,::1",
    ]);
    expect(connections).toEqual([]);
  });

  const WAYS_AROUND: Readonly<Record<string, string>> = {
    "no_proxy for everything": `NO_PROXY='*' no_proxy='*' curl -sS -m 3 http://127.0.0.1:${port}/`,
    "unset variables": `env -u http_proxy -u HTTP_PROXY -u ALL_PROXY -u all_proxy curl -sS -m 3 http://127.0.0.1:${port}/`,
    "a raw socket": `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && echo CONNECTED'`,
    "another address of this machine": `for a in $(hostname -I) 169.254.169.254; do curl -sS -m 2 --noproxy '*' http://$a:${port}/; done`,
    "a name server": "timeout 3 getent hosts a.example",
  };
  for (const [name, command] of Object.entries(WAYS_AROUND))
    test(`gets nowhere by ${name}`, async () => {
      const { run, connections } = await makeProject([`127.0.0.1:${port}`, "a.example"]);
      const { output, isError } = await run(command);
      expect(isError).toBe(true);
      expect(output).not.toMatch(/served|CONNECTED/);
      expect(connections).toEqual([]);
    });

  test("that ignores the proxy is told about it", async () => {
    const { run } = await makeProject(["a.example"]);
    const { output } = await run("curl -sS -m 3 --noproxy '*' http://b.example/");
    expect(output).toContain(
      "it ran in a sandbox: it reaches other machines only through the proxy that http_proxy, https_proxy and ALL_PROXY name",
    );
  });

  test("asks about another host once for several connections, and is refused without an answer yes", async () => {
    const { run, reported } = await makeProject(["a.example"]);
    asked.length = 0;
    const approve = async (request: ApprovalRequest): Promise<ApprovalResponse> => {
      asked.push(request);
      await Bun.sleep(200);
      return "reject";
    };
    const command =
      "for i in 1 2 3; do curl -sS -m 10 https://b.example/ & done; wait; curl -sS https://b.example/; true";
    const { output, isError } = await run(command, { approve });
    expect(asked).toEqual([
      {
        permission: "fetch",
        toolName: "network",
        description: "network: connect to b.example:443",
        details: { host: "b.example", port: 443, command },
      },
    ]);
    expect(isError).toBe(false);
    expect(output).toContain(
      '[the network of the sandbox refused b.example:443 (it is not among the allowed hosts). The user can allow it with --network b.example or the setting "sandboxNetwork"]',
    );
    expect((await reported(4)).map(({ host, allowed }) => [host, allowed])).toEqual(
      Array.from({ length: 4 }, () => ["b.example", false]),
    );
  });

  test("never asks about a private address or localhost", async () => {
    const { run, reported } = await makeProject(["a.example"]);
    asked.length = 0;
    const approve = async (request: ApprovalRequest): Promise<ApprovalResponse> => {
      asked.push(request);
      return "once";
    };
    await run(
      `${curl} http://127.0.0.1:${port}/ http://10.0.0.1/ http://localhost:${port}/ http://[::1]:${port}/`,
      { approve },
    );
    expect((await reported(4)).map(({ allowed }) => allowed)).toEqual([false, false, false, false]);
    expect(asked).toEqual([]);
  });

  test("loses its way when the relay is killed, is told so, and the next one has a new one", async () => {
    const { run, session, text, put } = await makeProject([`127.0.0.1:${port}`]);
    await run("true");
    const command = `touch started; while [ ! -e killed ]; do sleep 0.05; done; ${curl} http://127.0.0.1:${port}/`;
    const running = run(command);
    while (text("project/started") === undefined) await Bun.sleep(10);
    const relays = findRelays(session);
    for (const pid of relays) process.kill(pid, "SIGKILL");
    put("project/killed");
    expect(relays.length).toBeGreaterThan(0);
    expect((await running).output).toContain("the way to the network was lost");
    expect((await run(`${curl} http://127.0.0.1:${port}/again`)).output).toBe("served /again");
  });

  test("is ended with its server, and leaves no process of the network behind", async () => {
    const { run, box, session } = await makeProject([`127.0.0.1:${port}`]);
    await run(`${curl} http://127.0.0.1:${port}/`);
    await box.close();
    await endAllProcesses();
    expect(findRelays(session)).toEqual([]);
  });
});
