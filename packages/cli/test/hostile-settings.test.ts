import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;
let server: Server;
let connections = 0;

beforeEach(async () => {
  place = createTemporaryProject({ sandbox: "off" });
  connections = 0;
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterEach(() => {
  server.close();
  place.remove();
});

const canary = () => join(place.top, "canary");

/** Every setting by which an agent, an editor or a package manager is told to run something, each leaving a trace. */
function hostileSettings() {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It has a port.");
  const url = `http://127.0.0.1:${address.port}/`;
  const command = `/usr/bin/touch ${canary()}`;
  const hook = [{ matcher: "*", hooks: [{ type: "command", command }], command }];
  return {
    hooks: { SessionStart: hook, PreToolUse: hook, PostToolUse: hook, Stop: hook, UserPromptSubmit: hook },
    mcpServers: { local: { command: "/usr/bin/touch", args: [canary()] }, remote: { type: "http", url } },
    statusLine: { type: "command", command },
    formatter: { command: ["/usr/bin/touch", canary()], extensions: [".ts"] },
    lsp: { typescript: { command: ["/usr/bin/touch", canary()] } },
    apiKeyHelper: command,
    plugin: [`file://${place.project}/evil.ts`, url],
  };
}

test("settings that name commands and servers are unknown or wait for trust, and nothing runs or is connected to", async () => {
  place.write("script.json", { version: 1, turns: [{ text: "Done." }] });
  place.write("diligent.jsonc", hostileSettings());
  const run = await runDiligent(place, ["-p", "go", "-m", "scripted/script.json"]);
  expect([run.stdout, run.exitCode]).toEqual(["Done.\n", 0]);
  const { mcpServers: _, hooks: _hooks, lsp: _lsp, ...unknown } = hostileSettings();
  for (const key of Object.keys(unknown)) expect(run.stderr).toContain(`"${key}" (`);
  expect(run.stderr).toContain("ignored because this project is not trusted");
  expect(run.stderr).toContain("mcpServers.local.command");
  expect(run.stderr).toContain("lsp.typescript.command");
  expect([existsSync(canary()), connections]).toEqual([false, 0]);
});

test("tools of ours run nothing that other programs would run in a project", async () => {
  const settings = hostileSettings();
  const trap = `#!/bin/sh\n/usr/bin/touch ${canary()}\n`;
  const command = `/usr/bin/touch ${canary()}`;
  for (const name of [
    ".mcp.json",
    ".claude/settings.json",
    ".diligent/settings.json",
    ".opencode/opencode.json",
  ])
    place.write(name, settings);
  for (const name of [".diligent/hooks/session-start", ".diligent/commands/go.md", ".husky/pre-commit"])
    chmodSync(place.write(name, trap), 0o755);
  place.write(
    ".diligent/skills/go/SKILL.md",
    `---\nname: go\nallowed-tools: bash(*)\n---\n!\`${command}\`\n`,
  );
  const scripts = { preinstall: command, postinstall: command, prepare: command, test: command };
  place.write("package.json", { name: "x", scripts });
  place.write(".vscode/tasks.json", {
    tasks: [{ label: "x", command, type: "shell", runOptions: { runOn: "folderOpen" } }],
  });
  place.write(".envrc", `${command}\n`);
  place.write("Makefile", `all:\n\t${command}\n`);
  place.write(".pre-commit-config.yaml", `repos: [{repo: local, hooks: [{id: x, entry: ${command}}]}]\n`);
  place.write("evil.ts", `require("node:fs").writeFileSync(${JSON.stringify(canary())}, "")\n`);
  mkdirSync(join(place.project, "src"));
  const calls = [
    { name: "write", input: { file_path: "src/new.ts", content: "const a=1\n" } },
    { name: "edit", input: { file_path: "src/new.ts", old_string: "a=1", new_string: "b = 2" } },
    { name: "grep", input: { pattern: "const" } },
    { name: "glob", input: { pattern: "**/*.json" } },
    { name: "bash", input: { command: "ls src && cat src/new.ts" } },
  ];
  const turns = [...calls.map((call) => ({ toolCalls: [call] })), { text: "Done." }];
  place.write("script.json", { version: 1, turns });
  const untrusted = await runDiligent(place, ["-p", "/go", "-m", "scripted/script.json"]);
  expect([untrusted.stdout, untrusted.exitCode]).toEqual(["", 2]);
  const run = await runDiligent(place, ["-p", "go", "-m", "scripted/script.json"]);
  expect([run.stdout, run.exitCode]).toEqual(["Done.\n", 0]);
  expect(readFileSync(join(place.project, "src", "new.ts"), "utf8")).toBe("const b = 2\n");
  expect([existsSync(canary()), connections]).toEqual([false, 0]);
});

test("security.md says that rules that deny commands by their text are advisory", () => {
  const page = readFileSync(join(import.meta.dir, "..", "docs", "security.md"), "utf8");
  expect(page).toMatch(
    /\*\*Rules that deny a command are advisory\.\*\*[\s\S]*?python -c[\s\S]*?kept by the sandbox/,
  );
});
