import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import type { AskForHost, NetworkConnection } from "../../../src/infrastructure/network/connection.ts";
import { type CommandNetwork, SessionNetwork } from "../../../src/sandbox/network/session-network.ts";
import { findProcessesByVariable } from "../../support/process-census.ts";
import { resolveInTurn, TestClient } from "../../support/proxied-network.ts";
import { makeTempDir } from "../../support/temp-dir.ts";

/** The network namespace of this process: what the relay does in it is the same. */
const OWN = { id: 1, toJoiningNetwork: (argv: readonly string[]) => [...argv] };

type Options = Partial<ConstructorParameters<typeof SessionNetwork>[0]>;

async function makeNetwork(options: Options) {
  const connections: NetworkConnection[] = [];
  // Nothing is connected to: the name stands for a private address.
  const resolve = resolveInTurn(["10.0.0.1"]);
  const network = new SessionNetwork({
    setting: { allow: ["a.example"] },
    environment: {},
    directory: makeTempDir(),
    onConnection: (connection) => connections.push(connection),
    resolve,
    ...options,
  });
  return {
    network,
    connections,
    resolve,
    [Symbol.asyncDispose]: () => network.close(),
  };
}

/** The proxy's answer to a client of this command that wants a tunnel. */
async function request({ environment }: CommandNetwork, target: string): Promise<string> {
  const client = new TestClient(connect(Number(environment.http_proxy?.split(":").at(-1)), "127.0.0.1"));
  client.send(`CONNECT ${target} HTTP/1.1\r\n\r\n`);
  const answer = await client.end();
  client.socket.destroy();
  return answer;
}

const NOT_LISTED = "it is not among the allowed hosts";
const PRIVATE = "stands for 10.0.0.1";

/** Answers as told, and knows what it was asked. */
function createAsk(answer: (host: string) => boolean | Promise<boolean>): AskForHost & { asked: string[] } {
  const asked: string[] = [];
  const ask: AskForHost = async ({ host, port }, command) => {
    asked.push(`${host}:${port} for ${command}`);
    return answer(host);
  };
  return Object.assign(ask, { asked });
}

describe("the network of a session", () => {
  test('that is "on" allows any name on the ports of HTTP and HTTPS, and asks nobody', async () => {
    const ask = createAsk(() => true);
    await using place = await makeNetwork({ setting: "on", askForHost: ask });
    const command = await place.network.open(OWN, { line: "x", askForHost: ask });
    expect(await request(command, "b.example:443")).toContain(PRIVATE);
    expect(await request(command, "b.example:80")).toContain(PRIVATE);
    expect(await request(command, "b.example:25")).toContain("only ports 80 and 443 are allowed");
    expect(await request(command, "127.0.0.1:443")).toContain("is not a public address");
    expect([place.resolve.asked, ask.asked]).toEqual([["b.example", "b.example"], []]);
  });

  test("resolves no name before its host is allowed", async () => {
    await using place = await makeNetwork({});
    const command = await place.network.open(OWN, { line: "x" });
    expect(await request(command, "secret-data.b.example:443")).toContain(NOT_LISTED);
    expect(place.resolve.asked).toEqual([]);
  });

  test("keeps an answer for the command that it was given for", async () => {
    const yes = createAsk(() => true);
    const no = createAsk(() => false);
    await using place = await makeNetwork({});
    const first = await place.network.open(OWN, { line: "first", askForHost: yes });
    const second = await place.network.open(OWN, { line: "second", askForHost: no });
    for (const _ of [1, 2]) {
      expect(await request(first, "b.example:443")).toContain(PRIVATE);
      expect(await request(second, "b.example:443")).toContain(NOT_LISTED);
    }
    expect([yes.asked, no.asked]).toEqual([["b.example:443 for first"], ["b.example:443 for second"]]);
    expect(place.connections.map(({ command }) => command)).toEqual(["first", "second", "first", "second"]);
    expect(second.explain()).toBe(
      'the network of the sandbox refused b.example:443 (it is not among the allowed hosts). The user can allow it with --network b.example or the setting "sandboxNetwork"',
    );
  });

  test("asks about another port of a host separately, by its whole name", async () => {
    const ask = createAsk((host) => host === "b.example");
    await using place = await makeNetwork({});
    const command = await place.network.open(OWN, { line: "x", askForHost: ask });
    for (const target of ["b.example:443", "b.example:80", "b.example:8443"]) await request(command, target);
    expect(ask.asked).toEqual(["b.example:443 for x", "b.example:8443 for x"]);
  });

  test("refuses a connection whose answer takes too long, and uses the answer for the next one", async () => {
    const answer = Promise.withResolvers<boolean>();
    const ask = createAsk(() => answer.promise);
    await using place = await makeNetwork({ answerLimitMs: 30 });
    const command = await place.network.open(OWN, { line: "x", askForHost: ask });
    expect(await request(command, "b.example:443")).toContain(`${NOT_LISTED}, and nobody has answered yet`);
    answer.resolve(true);
    expect(await request(command, "b.example:443")).toContain(PRIVATE);
    expect(ask.asked).toHaveLength(1);
  });

  test("refuses a host when the question fails", async () => {
    await using place = await makeNetwork({});
    const askForHost = () => Promise.reject(new Error("the screen is gone"));
    const command = await place.network.open(OWN, { line: "x", askForHost });
    expect(await request(command, "b.example:443")).toContain(NOT_LISTED);
  });

  test("asks the session for a process whose command has returned, and listens no more when it has ended", async () => {
    const ofCommand = createAsk(() => true);
    const ofSession = createAsk(() => true);
    await using place = await makeNetwork({ askForHost: ofSession });
    const command = await place.network.open(OWN, { line: "x", askForHost: ofCommand });
    command.finish();
    expect(await request(command, "b.example:443")).toContain(PRIVATE);
    expect([ofCommand.asked, ofSession.asked]).toEqual([[], ["b.example:443 for x"]]);
    command.end();
    // The relay has closed the port by the time it has opened another one.
    await place.network.open(OWN, { line: "y" });
    expect(await request(command, "b.example:443")).toBe("");
  });

  test("serves nobody who connects to the proxy's socket without a command", async () => {
    const directory = makeTempDir();
    await using place = await makeNetwork({ setting: "on", directory });
    await place.network.open(OWN, { line: "x" });
    for (const label of ["1", "", "x"]) {
      const client = new TestClient(connect(`${directory}/network.sock`));
      client.send(`${label}\nCONNECT b.example:443 HTTP/1.1\r\n\r\n`);
      expect(await client.end()).toContain("it does not come from a command of this session");
      client.socket.destroy();
    }
    expect(place.resolve.asked).toEqual([]);
  });

  test("reports connections that are open when it ends", async () => {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: (socket) => void socket.write("hello"), data() {} },
    });
    const target = `127.0.0.1:${server.port}`;
    await using place = await makeNetwork({ setting: { allow: [target] } });
    const { environment } = await place.network.open(OWN, { line: "x" });
    const client = new TestClient(connect(Number(environment.http_proxy?.split(":").at(-1)), "127.0.0.1"));
    await client.send(`CONNECT ${target} HTTP/1.1\r\n\r\n`).until(/hello$/);
    expect(place.connections).toEqual([]);
    place.network.endConnections();
    expect(place.connections).toMatchObject([{ host: "127.0.0.1", allowed: true, bytes: 5, command: "x" }]);
    await client.end();
    client.socket.destroy();
    server.stop(true);
  });

  test("leaves no relay behind when the program is killed", async () => {
    const directory = makeTempDir();
    const program = `
      import { SessionNetwork } from ${JSON.stringify(join(import.meta.dir, "../../../src/sandbox/network/session-network.ts"))};
      const network = new SessionNetwork({ setting: "on", environment: {}, directory: ${JSON.stringify(directory)} });
      await network.open({ id: 1, toJoiningNetwork: (argv) => [...argv] }, { line: "x" });
      console.log("open");
      setInterval(() => {}, 1_000);
    `;
    const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
    await child.stdout.getReader().read();
    const findRelays = () => findProcessesByVariable("DILIGENT_RELAY_SOCKET", `${directory}/network.sock`);
    expect(findRelays()).toHaveLength(1);
    child.kill("SIGKILL");
    while (findRelays().length > 0) await Bun.sleep(10);
  });

  test("cannot be opened without a directory, or where the path of its socket would be too long", async () => {
    for (const directory of [undefined, `/tmp/${"a".repeat(100)}`]) {
      await using place = await makeNetwork({ directory });
      const opening = place.network.open(OWN, { line: "x" });
      await expect(opening).rejects.toThrow(
        directory ? "is too long" : "there is no directory for its socket",
      );
    }
  });
});
