import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ApprovalRequest } from "@diligent/core";
import { type ApproverOptions, createApprover, decideWith, reading, UNHEARD } from "../support/approver.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeAll(() => {
  place = createTemporaryProject();
});

afterAll(() => place.remove());

const createFor = (options: ApproverOptions) => createApprover(place, options);

const decide = (options: ApproverOptions, request: ApprovalRequest) =>
  decideWith(createFor(options), request);

describe("the diff of a call that needs approval", () => {
  const editing = (path: string): ApprovalRequest => ({
    permission: "write",
    toolName: "edit",
    description: "",
    details: { path },
  });

  async function showWith(
    options: ApproverOptions,
    request: ApprovalRequest,
    preview = async (): Promise<string | undefined> => "-a\n+b",
  ) {
    const announced: unknown[] = [];
    const made: string[] = [];
    const announce = (gate: string, about?: { shown?: ApprovalRequest }) =>
      `approval-${announced.push([gate, about?.shown?.details])}`;
    await createFor(options)(request, {
      announce,
      preview: () => {
        made.push("preview");
        return preview();
      },
    });
    return { announced, made };
  }

  test("is shown with the question and is part of the approval_request event", async () => {
    const asked: unknown[] = [];
    const ask = async ({ details }: ApprovalRequest) => {
      asked.push(details);
      return "once" as const;
    };
    const request = editing(`${place.project}/CLAUDE.md`);
    const details = { path: `${place.project}/CLAUDE.md`, diff: "-a\n+b" };
    expect(await showWith({ ask }, request)).toEqual({
      announced: [["control_file", details]],
      made: ["preview"],
    });
    expect(asked).toEqual([details]);
    expect(request.details).toEqual({ path: `${place.project}/CLAUDE.md` });
  });

  test("is left out if it cannot be computed", async () => {
    const path = `${place.project}/CLAUDE.md`;
    const { announced } = await showWith({ ask: async () => "once" }, editing(path), async () => undefined);
    expect(announced).toEqual([["control_file", { path }]]);
  });

  test("is not computed if nobody is asked", async () => {
    const ask = async () => "once" as const;
    const outside = editing("/etc/hosts");
    const denying = [{ permission: "write" as const, pattern: "/etc/**", action: "deny" as const }];
    const cases: [ApproverOptions, ApprovalRequest][] = [
      [{ ask }, editing(`${place.project}/src/a.ts`)],
      [{ ask, mode: "auto" }, outside],
      [{ ask, mode: "deny" }, outside],
      [{ ask, mode: "plan" }, outside],
      [{ ask, rules: denying }, outside],
      [{}, outside],
    ];
    for (const [options, request] of cases) expect((await showWith(options, request)).made).toEqual([]);
  });

  test('does not change what "always" allows', async () => {
    const asked: unknown[] = [];
    const approve = createFor({
      ask: async () => {
        asked.push(1);
        return "always";
      },
    });
    for (const diff of ["-a\n+b", "-b\n+c"]) {
      await approve(editing("/etc/hosts"), { ...UNHEARD, preview: async () => diff });
    }
    expect(asked).toEqual([1]);
  });
});

describe("listing a directory when rules deny reading part of it", () => {
  const rules = [
    { permission: "read" as const, pattern: "private/**", action: "deny" as const },
    { permission: "read" as const, pattern: "drafts/**", action: "ask" as const },
    { permission: "read" as const, pattern: "drafts/open.md", action: "allow" as const },
  ];
  const withheldBy = async (options: ApproverOptions) => {
    const { decision } = await decide(options, reading(place.project));
    const names = ["private/a", "PRIVATE/deep/a", "drafts/a", "drafts/open.md", "src/a"];
    return typeof decision === "object"
      ? names.filter((name) => decision.withholds?.(`${place.project}/${name}`))
      : decision;
  };

  test("is allowed, without the denied entries", async () => {
    const expected = ["private/a", "PRIVATE/deep/a", "drafts/a"];
    expect(await withheldBy({ rules })).toEqual(expected);
    expect(await withheldBy({ rules, mode: "deny" })).toEqual(expected);
    expect(await withheldBy({ rules, mode: "plan" })).toEqual(expected);
    expect(await withheldBy({ rules, mode: "auto" })).toEqual(["private/a", "PRIVATE/deep/a"]);
    expect(await withheldBy({ rules: [] })).toBe("once");
  });

  test("is allowed, without diligent's own files", async () => {
    const environment = { HOME: place.home, XDG_STATE_HOME: `${place.project}/state` };
    const { decision } = await decide({ environment }, reading(place.project));
    const withholds = typeof decision === "object" ? decision.withholds : undefined;
    const names = ["state/diligent/grants.json", "state/other", "src/a"];
    expect(names.filter((name) => withholds?.(`${place.project}/${name}`))).toEqual([
      "state/diligent/grants.json",
    ]);
    expect((await decide({ environment }, reading(`${place.project}/src`))).decision).toBe("once");
  });

  test("still leaves them out after the user has allowed the call", async () => {
    const { decision } = await decide({ rules, ask: async () => "once" }, reading("/etc"));
    expect(decision).toEqual({ response: "once", withholds: expect.any(Function) });
  });
});
