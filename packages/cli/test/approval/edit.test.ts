import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ApprovalRequest, RevisedCall } from "@diligent/core";
import type { AskedVerdict, CommandEdit, PersonAnswer } from "@diligent/core/harness";
import { type ApproverOptions, bash, createApprover } from "../support/approver.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeAll(() => {
  place = createTemporaryProject();
});

afterAll(() => place.remove());

interface Seen {
  command: unknown;
  verdict: Partial<AskedVerdict>;
}

/** A user who gives these answers, and the questions that they got. */
function createPerson(...answers: (PersonAnswer | CommandEdit)[]) {
  const seen: Seen[] = [];
  const ask = async ({ details }: ApprovalRequest, verdict: AskedVerdict) => {
    const { action, gate, isEdited, refusedEdit } = verdict;
    seen.push({ command: details?.command, verdict: { action, gate, isEdited, refusedEdit } });
    return answers.shift() ?? { response: "reject" as const };
  };
  return { ask, seen };
}

const revise = (changes: Record<string, unknown>): RevisedCall | undefined =>
  typeof changes.command === "string"
    ? { input: { timeout: 7, ...changes }, request: bash(changes.command) }
    : undefined;

async function decide(options: ApproverOptions, command = "rm -r build") {
  const gates: string[] = [];
  const approve = createApprover(place, options);
  const decision = await approve(bash(command), {
    announce: (gate) => `approval-${gates.push(gate)}`,
    revise,
  });
  return { decision, gates, approve };
}

const ASKED = { action: "ask", gate: "shell_command", isEdited: undefined, refusedEdit: undefined };
const EDITED = { ...ASKED, isEdited: true as const };

describe("a command that the user has edited", () => {
  test("is asked about again as a whole, and runs after a yes", async () => {
    const { ask, seen } = createPerson({ edited: "rm -ri build" }, { response: "once" });
    const { decision, gates } = await decide({ ask });
    expect(decision).toEqual({ response: "once", input: { timeout: 7, command: "rm -ri build" } });
    expect(seen as unknown[]).toEqual([
      { command: "rm -r build", verdict: ASKED },
      { command: "rm -ri build", verdict: EDITED },
    ]);
    expect(gates).toEqual(["shell_command", "shell_command"]);
  });

  test("is asked about even if it would need no approval", async () => {
    const { ask, seen } = createPerson({ edited: "ls" }, { response: "once" });
    expect((await decide({ ask })).decision).toMatchObject({ response: "once", input: { command: "ls" } });
    expect(seen[1]?.verdict as unknown).toEqual({
      ...EDITED,
      action: "allow",
      gate: "read_only_command",
    });
  });

  test("is refused without a question if a rule denies it; the question returns with the reason and the edited text", async () => {
    const rules = [{ permission: "execute" as const, pattern: "curl", action: "deny" as const }];
    const { ask, seen } = createPerson({ edited: "curl x" }, { edited: "make" }, { response: "once" });
    const { decision } = await decide({ ask, rules });
    expect(seen[1] as unknown).toEqual({
      command: "rm -r build",
      verdict: {
        ...ASKED,
        refusedEdit: { command: "curl x", why: 'the rule deny execute "curl" forbids it [rule]' },
      },
    });
    expect(decision).toMatchObject({ input: { command: "make" } });
  });

  test.each(["", " \n"])("does not exist if nothing is left of it: %j", async (edited) => {
    const { ask, seen } = createPerson({ edited }, { response: "once" });
    expect((await decide({ ask })).decision).toEqual({ response: "once" });
    expect(seen[1]?.verdict.refusedEdit).toEqual({ command: edited, why: "it is not a command" });
  });

  test("is the model's own command if nothing was changed", async () => {
    const { ask, seen } = createPerson({ edited: "rm -r build" }, { response: "once" });
    expect((await decide({ ask })).decision).toEqual({ response: "once" });
    expect(seen.map(({ verdict }) => verdict) as unknown[]).toEqual([ASKED, ASKED]);
  });

  test('is what "always" allows; the model\'s own command is asked about again', async () => {
    const { ask, seen } = createPerson(
      { edited: "make clean" },
      { response: "always", scope: "session" },
      { response: "reject" },
    );
    const { approve } = await decide({ ask });
    const unheard = { announce: () => "approval-1" };
    expect(await approve(bash("make clean"), unheard)).toBe("once");
    expect(await approve(bash("rm -r build"), unheard)).toEqual({ response: "reject" });
    expect(seen.map(({ command }) => command)).toEqual(["rm -r build", "make clean", "rm -r build"]);
  });

  test("does not run after a no", async () => {
    const { ask } = createPerson({ edited: "make" }, { response: "reject", message: "No." });
    expect((await decide({ ask })).decision).toEqual({ response: "reject", message: "No." });
  });
});
