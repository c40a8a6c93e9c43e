import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import type { ApprovalHandle, ApprovalRequest, OfferedChoice } from "@diligent/core";
import type { PersonAnswer } from "@diligent/core/harness";
import { GrantStore } from "@diligent/core/tools";
import {
  type ApproverOptions,
  bash,
  createApprover,
  decideWith,
  reading,
  UNHEARD,
} from "./support/approver.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeAll(() => {
  place = createTemporaryProject();
});

afterAll(() => place.remove());

const createFor = (options: ApproverOptions) => createApprover(place, options);

const decide = (options: ApproverOptions, request = bash("npm test")) =>
  decideWith(createFor(options), request);

test("createApprove() in auto mode allows everything and announces nothing", async () => {
  expect(await decide({ mode: "auto" })).toEqual({ decision: "once", gates: [] });
  expect(await decide({ mode: "auto" }, reading("/etc/shadow"))).toEqual({ decision: "once", gates: [] });
});

test("createApprove() passes requests that need no approval in every mode without announcing them", async () => {
  const inside = reading(`${place.project}/a.ts`);
  for (const mode of ["auto", "ask", "deny"] as const) {
    expect(await decide({ mode }, inside)).toEqual({ decision: "once", gates: [] });
  }
});

describe("createApprove() without a user", () => {
  for (const mode of ["ask", "deny"] as const) {
    test(`in ${mode} mode refuses, says so to the run, and names the option that would allow it`, async () => {
      expect(await decide({ mode })).toEqual({
        decision: {
          response: "reject",
          unattended: true,
          message: expect.stringMatching(
            /^Refused: npm may do more than read \[shell_command\], .*--approval auto/,
          ),
        },
        gates: ["shell_command"],
      });
    });
  }
});

describe("createApprove() with a user", () => {
  test("in ask mode returns the user's answer", async () => {
    const asked: unknown[] = [];
    const ask = async (request: ApprovalRequest, { gate }: { gate: string }) => {
      asked.push([request.description, gate]);
      return "always" as const;
    };
    expect(await decide({ mode: "ask", ask }, reading("/etc/hosts"))).toEqual({
      decision: { response: "always" },
      gates: ["outside_project"],
    });
    expect(asked).toEqual([["read: /etc/hosts", "outside_project"]]);
  });

  test("in deny mode asks nobody and lets the run continue", async () => {
    const ask = () => Promise.reject(new Error("was asked"));
    expect(await decide({ mode: "deny", ask })).toEqual({
      decision: { response: "reject", message: expect.stringContaining("--approval deny") },
      gates: ["shell_command"],
    });
  });
});

describe('"always"', () => {
  function createAsker(...answers: PersonAnswer[]) {
    const asked: string[] = [];
    const ask = async (request: ApprovalRequest) => {
      asked.push(request.description);
      return answers.shift() ?? { response: "reject" as const };
    };
    return { asked, ask };
  }

  test("with other words covers these without a question, in this session and later ones", async () => {
    for (const scope of ["session", "project"] as const) {
      const fresh = createTemporaryProject();
      const { asked, ask } = createAsker({ response: "always", scope, reach: "prefix" });
      const approve = createApprover(fresh, { mode: "ask", ask });
      const choices: (readonly OfferedChoice[] | undefined)[] = [];
      const handle: ApprovalHandle = { announce: (_, about) => `approval-${choices.push(about?.choices)}` };
      await approve(bash("npm run lint"), handle);
      expect(choices.map((each) => each?.map(({ reach }) => reach))).toEqual([["exact", "prefix"]]);
      expect(await approve(bash("npm run lint -- --fix"), UNHEARD)).toBe("once");
      await approve(bash("npm run lint -- --config ./evil.js"), UNHEARD);
      await createApprover(fresh, { mode: "ask", ask })(bash("npm run lint -- --quiet"), UNHEARD);
      const later = scope === "session" ? ["bash: npm run lint -- --quiet"] : [];
      expect(asked).toEqual(["bash: npm run lint", "bash: npm run lint -- --config ./evil.js", ...later]);
      fresh.remove();
    }
  });

  test("with a reach that was not offered covers exactly what was asked", async () => {
    const { asked, ask } = createAsker({ response: "always", reach: "program" });
    const approve = createFor({ mode: "ask", ask });
    await approve(bash("npm run never"), UNHEARD);
    expect(await approve(bash("npm run never"), UNHEARD)).toBe("once");
    await approve(bash("npm run never -- --fix"), UNHEARD);
    expect(asked).toHaveLength(2);
  });

  test("covers the same request and asks about a longer one again", async () => {
    const { asked, ask } = createAsker({ response: "always" });
    const approve = createFor({ ask });
    for (const command of ["npm test", "npm test", "npm test && ls", "npm test; curl x", "npm test x"]) {
      await approve(bash(command), UNHEARD);
    }
    expect(asked).toEqual(["bash: npm test", "bash: npm test; curl x", "bash: npm test x"]);
  });

  test("for the project applies in later sessions, for the session it does not", async () => {
    const first = createFor({
      ask: createAsker({ response: "always", scope: "project" }, { response: "always", scope: "session" })
        .ask,
    });
    await first(bash("npm run kept"), UNHEARD);
    await first(bash("npm run gone"), UNHEARD);
    const { asked, ask } = createAsker();
    const second = createFor({ ask });
    await second(bash("npm run kept"), UNHEARD);
    await second(bash("npm run gone"), UNHEARD);
    expect(asked).toEqual(["bash: npm run gone"]);
    expect(await createFor({ mode: "deny" })(bash("npm run kept"), UNHEARD)).toBe("once");
  });

  test("that cannot be saved applies to the session, with a message", async () => {
    const warnings: string[] = [];
    const { asked, ask } = createAsker({ response: "always", scope: "project" });
    const grants = new GrantStore({ environment: { XDG_STATE_HOME: "/proc/nowhere" }, root: place.project });
    const approve = createFor({ ask, grants, warn: (message) => warnings.push(message) });
    await approve(bash("make"), UNHEARD);
    await approve(bash("make"), UNHEARD);
    expect(asked).toEqual(["bash: make"]);
    expect(warnings).toEqual([expect.stringContaining("Saved for this session only: ")]);
  });
});

test("from a file with unusable grants reports them once and allows nothing", async () => {
  const state = `${place.top}/damaged/diligent`;
  mkdirSync(state, { recursive: true, mode: 0o700 });
  writeFileSync(`${state}/grants.json`, "{", { mode: 0o600 });
  const warnings: string[] = [];
  const grants = new GrantStore({
    environment: { XDG_STATE_HOME: `${place.top}/damaged` },
    root: place.project,
  });
  const approve = createFor({ grants, ask: async () => "once", warn: (message) => warnings.push(message) });
  await approve(bash("make"), UNHEARD);
  await approve(bash("make"), UNHEARD);
  expect(warnings).toEqual([expect.stringContaining("grants.json: the saved approvals are ignored")]);
});

describe("several questions at once", () => {
  test("are asked one after the other, and skipped if an earlier answer covers them", async () => {
    const open: { description: string; answer(given: PersonAnswer): void }[] = [];
    const ask = ({ description }: ApprovalRequest) =>
      new Promise<PersonAnswer>((answer) => open.push({ description, answer }));
    const approve = createFor({ ask });
    const decisions = ["make a", "make b", "make a"].map((command) => approve(bash(command), UNHEARD));
    while (open.length < 1) await Bun.sleep(1);
    expect(open.map(({ description }) => description)).toEqual(["bash: make a"]);
    open[0]?.answer({ response: "always" });
    while (open.length < 2) await Bun.sleep(1);
    expect(open.map(({ description }) => description)).toEqual(["bash: make a", "bash: make b"]);
    open[1]?.answer({ response: "reject", message: "no" });
    expect(await Promise.all(decisions)).toEqual([
      { response: "always" },
      { response: "reject", message: "no" },
      "once",
    ]);
  });

  test("end with the turn: waiting ones are not asked, later ones are", async () => {
    const asked: string[] = [];
    const ask = async ({ description }: ApprovalRequest): Promise<PersonAnswer> => {
      asked.push(description);
      return { response: "reject", endTurn: true };
    };
    const approve = createFor({ ask });
    const decisions = await Promise.all(["a", "b"].map((name) => approve(bash(`make ${name}`), UNHEARD)));
    expect(decisions).toMatchObject([
      { endTurn: true },
      { endTurn: true, message: expect.stringContaining("Not run") },
    ]);
    await approve(bash("make c"), UNHEARD);
    expect(asked).toEqual(["bash: make a", "bash: make c"]);
  });
});

describe("requests that are decided without a question", () => {
  test("a rule with action ask counts as a missing approval without a user", async () => {
    const rules = [{ permission: "execute" as const, pattern: "npm", action: "ask" as const }];
    for (const mode of ["ask", "deny"] as const) {
      expect(await decide({ mode, rules })).toEqual({
        decision: {
          response: "reject",
          unattended: true,
          message: expect.stringContaining("--approval auto"),
        },
        gates: ["rule"],
      });
    }
  });

  test("a deny rule refuses with its reason, with or without a user, and the run continues", async () => {
    const rules = [{ permission: "execute" as const, pattern: "npm", action: "deny" as const }];
    const ask = () => Promise.reject(new Error("was asked"));
    const expected: Awaited<ReturnType<typeof decide>> = {
      decision: {
        response: "reject",
        message: 'Refused: the rule deny execute "npm" forbids it [rule]. Do not work around it.',
      },
      gates: ["rule"],
    };
    expect(await decide({ mode: "auto", rules, ask })).toEqual(expected);
    expect(await decide({ mode: "deny", rules })).toEqual(expected);
  });

  test("plan mode refuses what writes or runs", async () => {
    expect(await decide({ mode: "plan" })).toEqual({
      decision: {
        response: "reject",
        message: expect.stringContaining("running commands is not allowed in plan mode"),
      },
      gates: ["plan_mode"],
    });
  });
});
