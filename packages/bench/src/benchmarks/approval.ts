import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ApprovalContext, type ApprovalRequest, decideApproval } from "@diligent/core";
import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/series.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 21;
const DECISIONS = 100;
const FILES = 1_000;
const FILES_FOR_PATTERN = 40;
const BUDGET_MS = 1;

const RULES: ApprovalContext["rules"] = [
  { permission: "read", pattern: "private/**", action: "ask" },
  { permission: "write", pattern: "generated/**", action: "allow" },
  { permission: "execute", pattern: "npm run *", action: "allow" },
  { permission: "execute", pattern: "curl", action: "deny" },
];

const SUBJECTS: Readonly<Record<string, readonly ApprovalRequest[]>> = {
  "a command": ["ls -la src", "npm run lint && git status", "cat lib/*.ts | head -50", "touch x > y"].map(
    toCommand,
  ),
  "a line of 60 commands": [toCommand(Array.from({ length: 60 }, (_, index) => `echo ${index}`).join("; "))],
  "a path": ["src/file-1.ts", "missing/x.ts", "/etc/hosts", ".git/config"].map((path) => ({
    permission: "write" as const,
    toolName: "write",
    description: "",
    details: { path },
  })),
  "a search through 1,000 files": [toCommand("grep -rn x src")],
};

/** What deciding about one call costs once the grammar of the shell is loaded. */
export const approval: Benchmark = {
  name: "approval",
  about: "deciding about a call, per call",
  async measure(stage) {
    const context = createContext(stage);
    const subjects = Object.entries(SUBJECTS).map(([name, requests]) => ({
      name,
      series: new Series(() => decisionMs(requests, context)),
    }));
    await takeTurns(
      subjects.map(({ series }) => series),
      stage.runs(RUNS),
    );
    return subjects.map(
      ({ name, series }): Figure => ({
        name: `approval, ${name}`,
        unit: "ms",
        rule: { kind: "amount" },
        measured: series.values,
        // A search is judged file by file, and is of no fixed size.
        ...(!name.startsWith("a search") && { budget: BUDGET_MS }),
      }),
    );
  },
};

function toCommand(command: string): ApprovalRequest {
  return { permission: "execute", toolName: "bash", description: "", details: { command } };
}

function createContext(stage: Stage): ApprovalContext {
  const root = stage.scratch.makeDirectory("approval");
  for (const [directory, count] of [
    ["src", FILES],
    ["lib", FILES_FOR_PATTERN],
  ] as const) {
    mkdirSync(join(root, directory));
    for (let index = 0; index < count; index++) writeFileSync(join(root, directory, `file-${index}.ts`), "");
  }
  return { root, cwd: root, rules: RULES, environment: stage.environment() };
}

async function decisionMs(requests: readonly ApprovalRequest[], context: ApprovalContext): Promise<number> {
  const begin = performance.now();
  for (let round = 0; round < DECISIONS / requests.length; round++) {
    for (const request of requests) await decideApproval(request, context);
  }
  return (performance.now() - begin) / DECISIONS;
}
