import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ApprovalRequest } from "@diligent/core";
import { createApprove } from "../src/approval.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const COMMAND: ApprovalRequest = {
  permission: "execute",
  toolName: "bash",
  description: "bash: npm test",
  details: { command: "npm test" },
};

let place: TemporaryProject;

beforeAll(() => {
  place = createTemporaryProject();
});

afterAll(() => place.remove());

async function decide(
  options: Omit<Parameters<typeof createApprove>[0], "context">,
  request: ApprovalRequest = COMMAND,
) {
  const gates: string[] = [];
  const context = { root: place.project, cwd: place.project };
  const decision = await createApprove({ ...options, context })(request, (gate) => gates.push(gate));
  return { decision, gates };
}

function reading(path: string): ApprovalRequest {
  return { permission: "read", toolName: "read", description: `read: ${path}`, details: { path } };
}

test("auto allows everything and announces nothing", async () => {
  expect(await decide({ mode: "auto" })).toEqual({ decision: "once", gates: [] });
  expect(await decide({ mode: "auto" }, reading("/etc/shadow"))).toEqual({ decision: "once", gates: [] });
});

test("what needs no consent passes in every mode without being announced", async () => {
  const inside = reading(`${place.project}/a.ts`);
  for (const mode of ["auto", "ask", "deny"] as const) {
    expect(await decide({ mode }, inside)).toEqual({ decision: "once", gates: [] });
  }
});

describe("with nobody there", () => {
  for (const mode of ["ask", "deny"] as const) {
    test(`${mode} refuses, says so to the run, and names the option that would allow it`, async () => {
      expect(await decide({ mode })).toEqual({
        decision: {
          response: "reject",
          unattended: true,
          message: expect.stringMatching(/^Refused: it runs a command, .*--approval auto/),
        },
        gates: ["shell_command"],
      });
    });
  }
});

describe("with somebody there", () => {
  test("ask passes the answer on", async () => {
    const asked: unknown[] = [];
    const ask = async (request: ApprovalRequest, { gate }: { gate: string }) => {
      asked.push([request.description, gate]);
      return "always" as const;
    };
    expect(await decide({ mode: "ask", ask }, reading("/etc/hosts"))).toEqual({
      decision: "always",
      gates: ["outside_project"],
    });
    expect(asked).toEqual([["read: /etc/hosts", "outside_project"]]);
  });

  test("deny asks nobody and lets the run go on", async () => {
    const ask = () => Promise.reject(new Error("was asked"));
    expect(await decide({ mode: "deny", ask })).toEqual({
      decision: { response: "reject", message: expect.stringContaining("--approval deny") },
      gates: ["shell_command"],
    });
  });
});
