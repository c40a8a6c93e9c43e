import { afterAll, expect, test } from "bun:test";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decideApproval } from "../../src/approval/policy.ts";
import { executeToolCall } from "../../src/tool/execute.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import type { Tool } from "../../src/tool/types.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { BYPASS_ALLOW_PATTERNS, BYPASS_COMMANDS } from "../support/bypass-commands.ts";
import { createEverydayProject } from "../support/everyday-project.ts";
import { createToolWorkspace } from "../support/tool-workspace.ts";

const { root, top, [Symbol.dispose]: remove } = createEverydayProject({ isHostile: true });

afterAll(remove);

function look(): string[] {
  return readdirSync(top, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const stats = lstatSync(join(top, name));
      return `${name} ${stats.mtimeMs} ${stats.isFile() ? readFileSync(join(top, name), "utf8") : ""}`;
    });
}

test("every known bypass is run with typical rules, and leaves no trace", async () => {
  const workspace = createToolWorkspace({ root, cwd: root });
  const registry = createToolRegistry([createBashTool(workspace) as Tool]);
  const rules = BYPASS_ALLOW_PATTERNS.map(
    (pattern) => ({ permission: "execute", pattern, action: "allow" }) as const,
  );
  const before = look();
  for (const command of BYPASS_COMMANDS) {
    await executeToolCall({ type: "tool_call", id: "call_1", name: "bash", input: { command } }, registry, {
      signal: AbortSignal.timeout(20_000),
      decide: async (request) => {
        const { action } = await decideApproval(request, { root, cwd: root, rules, mode: "deny" });
        return { response: action === "allow" ? "once" : "reject" };
      },
    });
  }
  expect(look()).toEqual(before);
}, 60_000);
