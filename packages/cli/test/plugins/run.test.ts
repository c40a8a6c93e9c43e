import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pluginFiles, writeTree } from "../../../core/test/support/plugin-source.ts";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { startInPty } from "../support/pty-program.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { ANTHROPIC_SERVICE, environmentFor, wholeReply } from "../support/vendor-service.ts";

/** A server with one tool, in the words of the protocol. */
const SERVER = `
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "db", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "root", description: "Root.", inputSchema: { type: "object" } }] }),
};
for await (const line of console) {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(answer ? { result: answer(params) } : { error: { code: -32601, message: "unknown" } }) }));
}
`;

let place: TemporaryProject;

beforeEach(async () => {
  // The sandbox hides the directory for temporary files, in which the home directory of a test lies.
  place = createTemporaryProject({ sandbox: "off" });
  const hook = `echo "$CLAUDE_PLUGIN_ROOT" > "$CLAUDE_PROJECT_DIR/hook.txt"; cat "\${CLAUDE_PLUGIN_ROOT}/scripts/hook.sh" >> "$CLAUDE_PROJECT_DIR/hook.txt"`;
  writeTree(join(place.top, "source"), {
    ...pluginFiles("tidy", hook),
    ".mcp.json": JSON.stringify({
      db: { command: process.execPath, args: [`\${CLAUDE_PLUGIN_ROOT}/server.js`] },
    }),
    "server.js": SERVER,
    "commands/git/review.md": `---\ndescription: Reviews.\n---\nReview $1 with \${CLAUDE_PLUGIN_ROOT}/notes.\n`,
  });
  const { exitCode } = await runDiligent(place, ["plugins", "add", "../source", "--yes"]);
  expect(exitCode).toBe(0);
});

afterEach(() => place.remove());

/** Where the plugin is kept. */
function pluginRoot(): string {
  const record = readFileSync(join(place.home, ".local", "state", "diligent", "plugins.json"), "utf8");
  const [plugin] = JSON.parse(record).plugins;
  return join(place.home, ".local", "share", "diligent", "plugins", plugin.directory);
}

const done = () => wholeReply(ANTHROPIC_SERVICE, { text: "Done." });

describe("a plugin that the user has agreed to", () => {
  test("is used in a session: skills, sub-agents and commands under its name, and hooks with its directory", async () => {
    const write = { id: "toolu_1", name: "write", input: { file_path: "a.txt", content: "a\n" } };
    await using server = await startSseServer(
      wholeReply(ANTHROPIC_SERVICE, { text: "Writing.", calls: [write] }),
      done(),
    );
    const environment = environmentFor(ANTHROPIC_SERVICE, server.url);
    const run = await runDiligent(place, ["-p", "/tidy:git:review main"], { environment });
    expect([run.exitCode, run.stderr.includes("warning")]).toEqual([0, false]);
    const first = JSON.stringify(server.requests[0]?.body);
    expect(first).toContain(`Review main with ${pluginRoot()}/notes.`);
    expect(first).toContain("- tidy:deploy: Deploys.");
    expect(first).toContain("tidy:critic");
    expect(readFileSync(join(place.project, "hook.txt"), "utf8")).toBe(
      `${pluginRoot()}\n#!/bin/sh\necho ran\n`,
    );
  });

  test("is not used once its files differ from what was shown, and one line says so", async () => {
    writeFileSync(
      join(pluginRoot(), "skills", "deploy", "SKILL.md"),
      "---\nname: deploy\ndescription: Evil.\n---\n",
    );
    await using server = await startSseServer(done());
    const environment = environmentFor(ANTHROPIC_SERVICE, server.url);
    const { stderr } = await runDiligent(place, ["-p", "Use $tidy:deploy."], { environment });
    expect(stderr).toContain(
      'warning: The plugin tidy is not used: its files have changed since you agreed to them; see "diligent plugins update tidy"\n',
    );
    expect(JSON.stringify(server.requests[0]?.body)).not.toMatch(/Evil|tidy:critic/);
    expect((await runDiligent(place, ["plugins"])).stdout).toContain("    not used: its files have changed");
  });

  test("has its parts in the lists, with the plugin as their source; its servers answer", async () => {
    const [skills, agents, servers] = await Promise.all(
      [["skills"], ["agents"], ["mcp", "list"]].map((args) => runDiligent(place, [...args, "--json"])),
    );
    expect(JSON.parse(skills?.stdout ?? "")).toMatchObject([
      { name: "tidy:deploy", source: "plugin tidy", state: "ready" },
    ]);
    expect(JSON.parse(agents?.stdout ?? "")).toContainEqual(
      expect.objectContaining({ name: "tidy:critic", source: "tidy/agents/critic.md", state: "ready" }),
    );
    expect(JSON.parse(servers?.stdout ?? "")).toMatchObject([{ name: "tidy:db", state: "ready", tools: 1 }]);
    const removal = await runDiligent(place, ["mcp", "remove", "tidy:db"]);
    expect([removal.exitCode, removal.stderr]).toEqual([
      2,
      "diligent: The server tidy:db belongs to a plugin; disable it, or remove the plugin.\n",
    ]);
    await runDiligent(place, ["mcp", "disable", "tidy:db"]);
    const disabled = await runDiligent(place, ["mcp", "list", "--json"]);
    expect(JSON.parse(disabled.stdout)).toMatchObject([{ name: "tidy:db", state: "disabled" }]);
  });

  test("is listed by /plugins on the screen, and its commands are completed", async () => {
    place.write("script.json", { version: 1, turns: [{ text: "Hello." }] });
    await using program = startInPty(place, ["--model", "scripted/script.json"], { rows: 40, columns: 120 });
    await program.waitFor("script.json");
    program.send("/plugins\r");
    await program.waitFor(`tidy  ${pluginRoot()}`.slice(0, 60));
    program.send("/tidy:g");
    await program.waitFor("Reviews.");
  });
});
