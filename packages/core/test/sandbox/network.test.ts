import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSocket, type Socket } from "node:dgram";
import { createServer, type Server } from "node:net";
import { dirname } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";

const problem = await findBoxProblem();

/** A listener that names its socket from where it works. */
const LISTEN = 'require("node:net").createServer().listen("relative.sock", () => console.log("listening"))';

let relative: Bun.Subprocess<"ignore", "pipe", "inherit"> | undefined;
let accepted = 0;
let tcp: Server;
let udp: Socket | undefined;
const servers: Server[] = [];
const place = problem === undefined ? await makeBoxedProject() : undefined;

const count = () => {
  accepted += 1;
};

async function listen(server: Server, where: string | number): Promise<void> {
  servers.push(server);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on("error", reject);
  if (typeof where === "number") server.listen(where, "127.0.0.1", resolve);
  else server.listen(where, resolve);
  await promise;
}

function portOf(server: Server | Socket | undefined): number {
  const address = server?.address();
  return typeof address === "object" && address !== null && address !== undefined ? address.port : 0;
}

beforeAll(async () => {
  if (place === undefined) return;
  tcp = createServer(count);
  await listen(tcp, 0);
  const socket = createSocket("udp4", count);
  udp = socket;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.bind(0, "127.0.0.1", resolve);
  await promise;
  for (const path of ["home/agent.sock", "project/server.sock", "elsewhere.sock"])
    await listen(createServer(count), at(path));
  relative = Bun.spawn(["bun", "-e", LISTEN], { cwd: dirname(at("elsewhere.sock")), stdout: "pipe" });
  await relative.stdout.getReader().read();
  await listen(createServer(count), `\0diligent-test-${process.pid}`);
});

afterAll(async () => {
  await endAllProcesses();
  relative?.kill();
  for (const server of servers) server.close();
  udp?.close();
});

/** A path below the project's parent. */
const at = (path: string) => place?.at(path) ?? "";

function run(command: string, options?: { outside: boolean }) {
  if (place === undefined) throw new Error("There is no box.");
  return place.run(command, options);
}

/** A program that connects to a socket, however it is named. */
const connect = (target: string) =>
  `bun -e 'require("node:net").connect(${target}).on("connect", () => { console.log("CONNECTED"); process.exit(0) }).on("error", (e) => { console.error(e.code); process.exit(1) })'`;

describe.skipIf(problem !== undefined)("a sandboxed command cannot reach a listener", () => {
  const ATTEMPTS: Readonly<Record<string, () => string>> = {
    curl: () => `curl -sS -m 2 http://127.0.0.1:${portOf(tcp)}/`,
    "curl by name": () => `curl -sS -m 2 http://localhost:${portOf(tcp)}/`,
    wget: () => `wget -q -T 2 -t 1 http://127.0.0.1:${portOf(tcp)}/`,
    "the shell's /dev/tcp": () => `echo x > /dev/tcp/127.0.0.1/${portOf(tcp)}`,
    "the shell's /dev/udp": () => `echo x > /dev/udp/127.0.0.1/${portOf(udp)}`,
    "a program over TCP": () => connect(String(portOf(tcp))),
    "a socket in the home directory": () => connect('"'.concat(at("home/agent.sock"), '"')),
    "a socket in the project": () => connect('"server.sock"'),
    "a socket elsewhere": () => connect(`"${at("elsewhere.sock")}"`),
    "a socket that was bound by a relative name": () => connect(`"${at("relative.sock")}"`),
    "a socket through /proc": () => connect(`"/proc/self/root${at("elsewhere.sock")}"`),
    "an abstract socket": () => connect(`"\\0diligent-test-${process.pid}"`),
    "the resolver": () => "getent hosts $(cat /etc/hostname).example.org",
    git: () => `git ls-remote http://127.0.0.1:${portOf(tcp)}/$(id -un)`,
    ssh: () => `ssh -o ConnectTimeout=2 -p ${portOf(tcp)} 127.0.0.1`,
  };
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    test(`by ${name}`, async () => {
      const before = accepted;
      const { output } = await run(attempt());
      await Bun.sleep(20);
      expect(accepted - before).toBe(0);
      expect(output).not.toContain("CONNECTED");
    });
  }

  test("although the same addresses reach it from outside", async () => {
    const before = accepted;
    const { output } = await run(
      [connect(String(portOf(tcp))), connect('"server.sock"'), `echo x > /dev/udp/127.0.0.1/${portOf(udp)}`]
        .map((line) => (line.startsWith("echo") ? `bash -c '${line}'` : line))
        .join("; "),
      { outside: true },
    );
    while (accepted - before < 3) await Bun.sleep(5);
    expect(output.match(/CONNECTED/g)).toHaveLength(2);
    expect(accepted - before).toBe(3);
  });

  test("and is told that there is no network, and how to request it", async () => {
    const { output } = await run("curl -sS http://example.org/");
    expect(output).toContain(
      "it ran in a sandbox: there is no network but this session's own localhost, and no access to services outside it. ",
    );
    expect(output).toContain("call bash again with outside_sandbox and a reason; that needs approval");
  });

  test("except its own, in one command and in the background", async () => {
    const serve = `bun -e 'require("node:net").createServer((c) => c.end("OWN")).listen("own.sock")'`;
    const { output } = await run(
      `timeout 5 ${serve} & for i in $(seq 100); do [ -S own.sock ] && break; sleep 0.05; done; ${connect('"own.sock"')}; kill %1`,
    );
    expect(output).toContain("CONNECTED");
  });

  test("in the system's runtime directory, which it cannot see", async () => {
    const { output } = await run("find /run /var/run/ -type s -o -type f; ls -A /run | wc -l");
    expect(output).toBe("0");
  });
});
