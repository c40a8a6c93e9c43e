import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { hostname } from "node:os";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { findSandboxProblem } from "../support/sandbox-problem.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const problem = findSandboxProblem();

let place: TemporaryProject;
let server: Bun.Server<undefined>;
const programs: TerminalProgram[] = [];

beforeEach(() => {
  place = createTemporaryProject();
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("served") });
});

afterEach(async () => {
  for (const program of programs.splice(0)) program.process.kill("SIGKILL");
  place.remove();
  await server.stop(true);
});

/** A model that runs these commands, one after the other. */
function write(commands: readonly string[]): string[] {
  const turns = commands.map((command) => ({ toolCalls: [{ name: "bash", input: { command } }] }));
  place.write("script.json", { version: 1, turns: [...turns, { text: "Done." }] });
  return ["-m", "scripted/script.json"];
}

async function print(commands: readonly string[], args: readonly string[] = []) {
  const words = ["-p", "go", ...write(commands), "--output-format", "stream-json", ...args];
  const { stdout, stderr, exitCode } = await runDiligent(place, words);
  const events = parseLines(stdout);
  const find = (type: string) => events.filter((event) => event.type === type);
  return {
    stderr,
    exitCode,
    connections: find("network"),
    asked: find("approval_request"),
    ends: find("tool_end"),
  };
}

// The proxy is used for loopback, too, only without `NO_PROXY`.
const curl = "curl -sS -m 10 --noproxy ''";

describe.skipIf(problem !== undefined)("the network of commands", () => {
  test("is what --network says, is reported as events, and is listed for the session", async () => {
    const command = `${curl} http://127.0.0.1:${server.port}/`;
    const { exitCode, connections, ends } = await print([command], ["--network", `127.0.0.1:${server.port}`]);
    expect([exitCode, ends[0]?.output]).toEqual([0, "served"]);
    const connection = {
      host: "127.0.0.1",
      port: server.port,
      allowed: true,
      by: `the entry 127.0.0.1:${server.port}`,
      bytes: expect.any(Number),
      command,
    };
    expect(connections).toEqual([{ type: "network", ...connection, purpose: "command" }]);
    const listed = await runDiligent(place, ["network", "--json"]);
    expect(JSON.parse(listed.stdout)).toEqual([{ ...connection, connections: 1 }]);
    const { stdout } = await runDiligent(place, ["network", "1"]);
    expect(stdout).toMatch(
      /^HOST .*\n127\.0\.0\.1:\d+ +1 +\d+ B +- +command +the entry 127\.0\.0\.1:\d+\n {4}curl /,
    );
  });

  test("is what the user's file says, and nothing without a setting", async () => {
    place.configure({ sandboxNetwork: { allow: [`127.0.0.1:${server.port}`] } });
    const command = `${curl} http://127.0.0.1:${server.port}/; true`;
    expect((await print([command])).ends[0]?.output).toBe("served");
    const off = await print([command], ["--network", "off"]);
    expect(off.connections).toEqual([]);
    expect((await print(["curl -sS http://a.example/"], ["--network", "off"])).ends[0]?.output).toContain(
      'The user can allow hosts with --network or the setting "sandboxNetwork", which is "off".',
    );
  });

  test("is not what an untrusted project's file says", async () => {
    place.write("diligent.jsonc", { sandboxNetwork: { allow: [`127.0.0.1:${server.port}`] } });
    const { stderr, connections } = await print([`${curl} http://127.0.0.1:${server.port}/`]);
    expect(connections).toEqual([]);
    expect(stderr).toContain("sandboxNetwork");
  });

  test("with -p refuses another host, also in auto, ends with exit code 4 and says what would allow it", async () => {
    for (const mode of ["deny", "auto"]) {
      const args = ["--network", "a.example", "--approval", mode];
      const { exitCode, asked, connections, ends, stderr } = await print(
        ["curl -sS https://b.example/"],
        args,
      );
      expect(exitCode).toBe(4);
      expect(asked).toMatchObject([{ gate: "network", request: { permission: "fetch" } }]);
      expect(connections).toMatchObject([{ host: "b.example", port: 443, allowed: false }]);
      expect(ends[0]).toMatchObject({ isError: true, outcome: "rejected" });
      expect(ends[0]?.output).toContain('with --network b.example or the setting "sandboxNetwork"');
      expect(stderr).toBe("");
    }
    const { stderr } = await runDiligent(place, [
      "-p",
      "go",
      ...write(["curl https://b.example/"]),
      "--network",
      "a.example",
    ]);
    expect(stderr).toContain('--network b.example or the setting "sandboxNetwork" allows it');
  });

  test("asks in a terminal, while the connection waits; an answer for the project holds in later sessions", async () => {
    // This machine's own name is resolved without a name server, and stands for no public address.
    const host = hostname();
    const commands = [`curl -sS https://${host}/; echo first`, `curl -sS https://${host}/; echo second`];
    const program = runInTerminal(place, [...write(commands), "--network", "a.example", "go"]);
    programs.push(program);
    await program.shown(`Allow network? Reason: ${host}:443 is not among the hosts`);
    await program.shown(`connect to ${host}:443`);
    await program.shown(`curl -sS https://${host}/; echo first`);
    await program.shown(`connections of sandboxed commands to ${host}`);
    await program.shown("Allow it? ");
    program.type("n\r");
    await program.shown(`connect to ${host}:443`);
    await program.shown("echo second");
    await program.shown("Allow it? ");
    program.type("p\r");
    await program.shown("Done.");
    program.type("/network\r");
    await program.shown("refused: it is not among the allowed hosts");
    await program.shown(`the name ${host} `);
    program.type("\x04");
    await program.exitCode;
    const { asked, connections } = await print([`curl -sS https://${host}/`], ["--network", "a.example"]);
    expect(asked).toEqual([]);
    // Allowed by the answer, and then refused for what the name stands for.
    expect(connections).toHaveLength(1);
    expect(connections[0]?.by ?? connections[0]?.problem).toContain("the name ");
  });

  test.each([
    [
      "http://a.example",
      '--network http://a.example: "http://a.example" must be a host, without http:// in front',
    ],
    ["a.example,*", '"*" must name a host; any public host is the setting "on"'],
  ])("%s is wrong usage", async (text, message) => {
    const { exitCode, stderr } = await runDiligent(place, ["-p", "go", ...write([]), "--network", text]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });

  test("a wrong host in the user's file is named with its place", async () => {
    place.configure({ sandboxNetwork: { allow: ["a.example", "b/c"] } });
    const { exitCode, stderr } = await runDiligent(place, ["-p", "go", ...write([])]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /diligent\.jsonc:\d+:\d+: key "sandboxNetwork\.allow\[1\]": must be a host such as/,
    );
  });
});

test("where commands run unsandboxed, a notice says that --network does not limit them", async () => {
  place.configure({ sandbox: "off" });
  const { stdout } = await runDiligent(place, [
    "-p",
    "go",
    ...write([]),
    "--network",
    "off",
    "--output-format",
    "stream-json",
  ]);
  expect(parseLines(stdout)).toContainEqual({
    type: "notice",
    level: "warning",
    code: "network_not_limited",
    message: 'Commands run unsandboxed: "sandboxNetwork" and --network do not limit what they reach.',
  });
});
