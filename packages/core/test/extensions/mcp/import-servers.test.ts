import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findForeignServers } from "../../../src/extensions/mcp/import-servers.ts";
import { makeTempDir } from "../../support/temp-dir.ts";

/** The settings that are found in a home with these files, by the name of the server. */
function importFrom(files: Record<string, string>, project: Record<string, string> = {}) {
  const [home, root] = [makeTempDir(), makeTempDir()];
  for (const [directory, contents] of [
    [home, files],
    [root, project],
  ] as const) {
    for (const [name, content] of Object.entries(contents)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), content.replaceAll("$ROOT", root));
    }
  }
  const found = findForeignServers({ HOME: home }, root);
  return Object.fromEntries(found.map(({ name, setting, problem }) => [name, setting ?? problem]));
}

const toml = (lines: readonly string[]) => lines.join("\n");

test("servers of Claude Code are found, those of the project as well", () => {
  const file = JSON.stringify({
    mcpServers: {
      a: { command: "npx", args: ["x"], env: { K: "v" }, timeout: 30 },
      b: { type: "sse", url: "https://h/s" },
    },
    projects: {
      $ROOT: { mcpServers: { c: { url: "https://h/c", headers: { X: "y" } } } },
      "/other": { mcpServers: { d: {} } },
    },
  });
  expect(importFrom({ ".claude.json": file })).toEqual({
    a: { command: "npx", args: ["x"], env: { K: "v" }, timeoutMs: 30_000 },
    b: { type: "sse", url: "https://h/s" },
    c: { type: "http", url: "https://h/c", headers: { X: "y" } },
  });
});

test("servers of Codex keep the names of the variables that they take their secrets from", () => {
  const file = toml([
    "[mcp_servers.local]",
    'command = "srv"',
    'env_vars = ["TOKEN"]',
    "tool_timeout_sec = 2.5",
    "[mcp_servers.web]",
    'url = "https://h/m"',
    'bearer_token_env_var = "WEB"',
    "enabled = false",
  ]);
  expect(importFrom({ ".codex/config.toml": file })).toEqual({
    local: { command: "srv", env: { TOKEN: `\${TOKEN}` }, timeoutMs: 2_500 },
    web: { type: "http", url: "https://h/m", headers: { Authorization: `Bearer \${WEB}` }, enabled: false },
  });
});

test("servers of opencode, gemini-cli and pi are found in their shapes", () => {
  const found = importFrom({
    ".config/opencode/opencode.jsonc":
      '{ "mcp": { "o": { "type": "local", "command": ["npx", "o"], "environment": {"A": "b"} }, } } // end',
    ".gemini/settings.json": JSON.stringify({
      mcpServers: { g: { httpUrl: "https://h/g" }, s: { url: "https://h/s" } },
    }),
    ".pi/agent/mcp.json": JSON.stringify({ mcpServers: { p: { command: "p", timeout: 5, enabled: false } } }),
  });
  expect(found).toEqual({
    o: { command: "npx", args: ["o"], env: { A: "b" } },
    g: { type: "http", url: "https://h/g" },
    s: { type: "sse", url: "https://h/s" },
    p: { command: "p", timeoutMs: 5_000, enabled: false },
  });
});

test("a server of the project's VS Code stays in a sandbox, and one that asks for input is named", () => {
  const servers = {
    v: { command: "v" },
    i: { command: "i", env: { K: `\${input:key}` } },
    n: { type: "weird", url: "x" },
  };
  expect(importFrom({}, { ".vscode/mcp.json": JSON.stringify({ servers }) })).toEqual({
    v: { command: "v", sandbox: {} },
    i: 'It asks for "key", which is not known here.',
    n: 'Its "type" cannot be used here.',
  });
});

test("damaged files and hostile names do no harm", () => {
  const found = importFrom({
    ".claude.json":
      '{"mcpServers": {"__proto__": {"command": "x"}, "constructor": {"command": "y"}, "bad": 7}}',
    ".codex/config.toml": "[[[",
  });
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  expect(Object.entries(found).sort()).toHaveLength(3);
  expect(found.bad).toBe("It needs either a command or an address.");
  expect(found[""]).toBe("The file cannot be read.");
});
