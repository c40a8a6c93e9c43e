import { describe, expect, test } from "bun:test";
import { chmodSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { ApprovalMode } from "../../src/approval/types.ts";
import { createHarness } from "../../src/harness/harness.ts";
import { createScriptedStream, scriptedModel } from "../../src/provider/scripted.ts";
import type { StreamContext, StreamFunction } from "../../src/provider/types.ts";
import { promptText } from "../../src/types.ts";
import type { TurnScript } from "../support/agent-run.ts";
import { makeConfigPlace, put } from "../support/config-place.ts";

type Sandbox = "on" | "off" | "missing";

interface Row {
  mode: ApprovalMode;
  sandbox?: Sandbox;
  isAttended?: boolean;
  turns?: TurnScript[];
  settings?: object;
  id?: string;
}

/** A session with these settings, and the requests that its model has received. */
async function openSession({
  mode,
  sandbox = "off",
  isAttended = true,
  turns = [{ text: "Done." }],
  settings = {},
  id,
}: Row) {
  const place = makeConfigPlace();
  const project = realpathSync(place.project);
  // Only their names matter before the first command.
  const programs = join(place.home, "programs");
  for (const name of sandbox === "on" ? ["bwrap", "nsenter"] : ["other"])
    chmodSync(put(join(programs, name), "#!/bin/sh\nexit 1\n"), 0o755);
  put(place.userFile, {
    sandbox: { on: "auto", off: "off", missing: "required" }[sandbox],
    ...settings,
  });
  const requests: StreamContext[] = [];
  const script = { version: 1 as const, turns };
  const scripted = createScriptedStream(script);
  const streamFunction: StreamFunction = (model, context, options) => {
    requests.push(structuredClone(context));
    return scripted(model, context, options);
  };
  const model = { ...scriptedModel("script.json", script), contextWindow: 200_000, ...(id && { id }) };
  const harness = await createHarness({
    cwd: project,
    environment: { ...place.environment, PATH: sandbox === "on" ? `${programs}:/usr/bin:/bin` : programs },
    overrides: { persist: false },
  });
  const opened = await harness.openSession(
    { fresh: true },
    {
      model: { model, streamFunction },
      approvalMode: mode,
      ...(isAttended && { ask: async () => "once", askUser: async () => undefined }),
    },
  );
  const say = (content: string) => opened.session.run({ role: "user", content, timestamp: 0 }).result();
  return { opened, requests, say, project, [Symbol.asyncDispose]: () => harness.close() };
}

async function firstRequest(row: Row): Promise<StreamContext> {
  await using session = await openSession(row);
  await session.say("hi");
  const [first] = session.requests;
  if (!first) throw new Error("There was no request.");
  return first;
}

const NEEDS =
  "access outside the project, reading secret files, fetching web pages and writing protected files (.git, .env, CI and the like)";
const ASKED = `You may read and edit files in the project. The user is asked before ${NEEDS}.`;
const REFUSED = `You may read and edit files in the project. Refused unless a rule allows it: ${NEEDS}.`;
const AUTO =
  "Nothing needs approval, except what would lose commits or refs that undo could not restore. Rules may forbid calls.";
const PLAN = "Every change and command is refused. You may read files in the project.";

/** What the environment section says in each mode: with a user, and without. */
const MODES: Record<ApprovalMode, [attended: string, unattended: string]> = {
  ask: [ASKED, `No user is present. ${REFUSED}`],
  "accept-edits": [ASKED, `No user is present. ${REFUSED}`],
  deny: [REFUSED, `No user is present. ${REFUSED}`],
  auto: [AUTO, `No user is present. ${AUTO}`],
  plan: [
    `${PLAN} The user is asked before access outside the project, reading secret files and fetching web pages.`,
    `No user is present. ${PLAN} Refused unless a rule allows it: access outside the project, reading secret files and fetching web pages.`,
  ],
};

const EDITS = " or edit files in the project (mkdir, touch, cp, mv, ln, sed -i)";
const unsandboxed = (edits: string, others: string) =>
  `# Commands\n\nCommands run without a sandbox. Those that provably only read${edits} run at once; ${others}`;
const OTHERS_ASK = "about others the user is asked.";
const OTHERS_REFUSED = "others are refused unless a rule allows them.";

/** What the section about unsandboxed commands is in each mode. */
const UNSANDBOXED: Record<Exclude<ApprovalMode, "plan">, [attended: string, unattended: string]> = {
  ask: [unsandboxed("", OTHERS_ASK), unsandboxed("", OTHERS_REFUSED)],
  "accept-edits": [unsandboxed(EDITS, OTHERS_ASK), unsandboxed(EDITS, OTHERS_REFUSED)],
  deny: [unsandboxed("", OTHERS_REFUSED), unsandboxed("", OTHERS_REFUSED)],
  auto: [
    "# Commands\n\nCommands run without a sandbox and without a question.",
    "# Commands\n\nCommands run without a sandbox and without a question.",
  ],
};

/** How the section about the sandbox ends. */
const OUTSIDE: typeof UNSANDBOXED = {
  ask: ["pass outside_sandbox and a reason: the user is asked.", "unless a rule allows that."],
  "accept-edits": ["pass outside_sandbox and a reason: the user is asked.", "unless a rule allows that."],
  deny: ["unless a rule allows that.", "unless a rule allows that."],
  auto: ["pass outside_sandbox: it needs no approval.", "pass outside_sandbox: it needs no approval."],
};

const UNAVAILABLE =
  "# Commands\n\nEvery command is refused: the user's settings require a sandbox, which is not available.";

const TOOLS = [
  ...["read", "ls", "glob", "grep", "edit", "write", "bash", "job_output", "job_kill"],
  ...["add_knowledge", "recall", "todo", "web_fetch", "task"],
];

const ROWS = (["ask", "accept-edits", "plan", "auto", "deny"] as const).flatMap((mode) =>
  (["on", "off", "missing"] as const).flatMap((sandbox) =>
    [true, false].map((isAttended) => ({ mode, sandbox, isAttended })),
  ),
);

describe("the first request", () => {
  test.each(ROWS)("in mode $mode, sandbox $sandbox, attended $isAttended tells the truth", async (row) => {
    const { mode, sandbox, isAttended } = row;
    const { systemPrompt, tools } = await firstRequest(row);
    const column = isAttended ? 0 : 1;
    expect(systemPrompt).toContain(`\nApproval mode: ${mode}. ${MODES[mode][column]}\n`);
    const section = /^# (?:Sandbox|Commands)\n\n.*$/m.exec(systemPrompt)?.[0];
    if (mode === "plan") expect(section).toBeUndefined();
    else if (sandbox === "missing") expect(section).toBe(UNAVAILABLE);
    else if (sandbox === "off") expect(section).toBe(UNSANDBOXED[mode][column]);
    else expect(section).toEndWith(OUTSIDE[mode][column]);

    // No tool that could do nothing is named, and none of its freedoms.
    const runs = mode !== "plan" && sandbox !== "missing";
    expect(/\bbash\b/.test(systemPrompt)).toBe(runs);
    expect(/\bedit:|\bUse write\b/.test(systemPrompt)).toBe(mode !== "plan");
    const mayWriteProtected = mode !== "auto" && isAttended && mode !== "deny";
    expect(systemPrompt.includes("change them with")).toBe(runs && sandbox === "on" && mayWriteProtected);
    expect(systemPrompt.includes("outside_sandbox")).toBe(/outside_sandbox/.test(section ?? ""));
    if (!isAttended || mode === "deny" || mode === "auto") expect(systemPrompt).not.toMatch(/user is asked/);

    // The tools are the same in every mode, since it may change.
    const names = tools.map(({ name }) => name).filter((name) => name !== "ask_user");
    expect(names.filter((name) => name !== "add_knowledge")).toEqual(
      TOOLS.filter((name) => name !== "add_knowledge" && name !== "recall"),
    );
    expect(tools.some(({ name }) => name === "ask_user")).toBe(isAttended);
    expect(argumentsOf(tools, "bash")).toEqual([
      ...["command", "timeout", "description"],
      ...(sandbox === "on" ? ["outside_sandbox", "reason"] : []),
      ...["background", "on_timeout"],
      ...(sandbox !== "missing" && (isAttended || mode === "auto") ? ["detach"] : []),
    ]);
    expect(JSON.stringify(tools)).not.toContain("asked");
  });

  test.each([
    ["execute", /\bbash\b/, ["bash", "job_output", "job_kill"]],
    ["write", /\bedit\b:|\bUse write\b|change them with/, ["edit", "write", "add_knowledge"]],
    ["read", /\bgrep\b|\bglob\b/, ["read", "ls", "glob", "grep", "recall"]],
  ])("names no tool that a rule denies: %s", async (permission, named, denied) => {
    const settings = { permissions: [{ permission, pattern: "*", action: "deny" }] };
    const { systemPrompt, tools } = await firstRequest({ mode: "ask", sandbox: "on", settings });
    expect(systemPrompt).not.toMatch(named);
    expect(tools.filter(({ name }) => denied.includes(name))).toEqual([]);
  });

  test("names the tool for changes that the model is offered", async () => {
    const patching = await firstRequest({ mode: "ask", id: "gpt-6.2-sol" });
    expect(patching.systemPrompt).toContain("Change files with apply_patch");
    expect(patching.systemPrompt).not.toMatch(/files with edit|Use write/);
    const editing = await firstRequest({ mode: "ask" });
    expect(editing.systemPrompt).not.toContain("apply_patch");
  });

  test.each([
    ["ask", true, "other hosts need the user's consent"],
    ["auto", true, "other hosts need the user's consent"],
    ["auto", false, "other hosts are refused"],
    ["deny", true, "other hosts are refused"],
    ["ask", false, "other hosts are refused"],
  ] as const)(
    "in mode %s, attended %p, says that of hosts which are not listed",
    async (mode, isAttended, text) => {
      const settings = { sandboxNetwork: { allow: ["a.example"] } };
      const { systemPrompt } = await firstRequest({ mode, isAttended, sandbox: "on", settings });
      expect(systemPrompt).toContain(`network: a.example through the proxy in http_proxy, ${text};`);
    },
  );
});

function argumentsOf(tools: StreamContext["tools"], wanted: string): string[] {
  const { properties } = tools.find(({ name }) => name === wanted)?.inputSchema ?? {};
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}

const write = (path: string) => ({
  toolCalls: [{ name: "write", input: { file_path: path, content: "x" } }],
});

/** The texts of the user's messages after the last reply. */
function lastTexts({ messages }: StreamContext): string[] {
  const replied = messages.findLastIndex(({ role }) => role === "assistant");
  return messages
    .slice(replied + 1)
    .flatMap((message) => (message.role === "user" ? [promptText(message)] : []));
}

test("the model is told when the sandbox turns out to be missing", async () => {
  const turns = [{ toolCalls: [{ name: "bash", input: { command: "echo $((6 * 7))" } }] }, { text: "Done." }];
  await using session = await openSession({ mode: "ask", sandbox: "on", turns });
  await session.say("go");
  const [first, second] = session.requests;
  expect(first?.systemPrompt).toContain("bash runs sandboxed");
  expect(second && lastTexts(second)).toEqual([
    expect.stringMatching(/^\[What you may do has changed: .* Commands run without a sandbox\..*\]$/),
  ]);
  expect(second?.messages.at(-2)).toMatchObject({ output: "42" });
});

describe("a change of the mode", () => {
  test("adds one line to the next message of the user, and the prefix of the requests stays the same", async () => {
    const knowledge = { toolCalls: [{ name: "add_knowledge", input: { type: "pattern", content: "x" } }] };
    const bash = { toolCalls: [{ name: "bash", input: { command: "ls" } }] };
    const turns = [
      { text: "1" },
      write("a.txt"),
      bash,
      knowledge,
      { text: "2" },
      { text: "3" },
      { text: "4" },
    ];
    await using session = await openSession({ mode: "ask", turns });
    const { opened, requests, say, project } = session;
    await say("one");
    opened.approval.mode = "plan";
    await say("two");
    opened.approval.mode = "accept-edits";
    await say("three");
    opened.approval.mode = "auto";
    opened.approval.mode = "accept-edits";
    await say("four");
    expect(requests).toHaveLength(7);
    const serialized = requests.map(({ systemPrompt, tools }) => JSON.stringify({ systemPrompt, tools }));
    expect(new Set(serialized).size).toBe(1);
    for (const [index, { messages }] of requests.slice(1).entries())
      expect(messages.slice(0, requests[index]?.messages.length)).toEqual([
        ...(requests[index]?.messages ?? []),
      ]);

    const changes = requests.map(lastTexts);
    expect(changes[0]).toEqual(["one"]);
    expect(changes[1]).toEqual([
      "two",
      expect.stringMatching(
        /^\[What you may do has changed: Approval mode: plan\. Every change .*## Plan.*\]$/,
      ),
    ]);
    expect(changes.slice(2, 5)).toEqual([[], [], []]);
    const accepts = `Approval mode: accept-edits. ${ASKED} Commands run without a sandbox. Those that provably only read${EDITS} run at once; ${OTHERS_ASK}`;
    expect(changes[5]).toEqual(["three", `[What you may do has changed: ${accepts}]`]);
    expect(changes[6]).toEqual(["four"]);

    const refused = requests[4]?.messages.filter((message) => message.role === "tool_result") ?? [];
    expect(refused.map(({ output }) => output)).toEqual([
      expect.stringContaining("Refused: writing files is not allowed in plan mode [plan_mode]"),
      expect.stringContaining("Refused: running commands is not allowed in plan mode [plan_mode]"),
      expect.stringMatching(/not allowed in plan mode|There is no tool/),
    ]);
    expect(await Bun.file(join(project, "a.txt")).exists()).toBe(false);
  });

  test("during a run is told before the next request", async () => {
    const turns = [{ toolCalls: [{ name: "ls", input: {} }] }, { text: "Done." }];
    await using session = await openSession({ mode: "ask", turns });
    const { opened, requests } = session;
    const run = opened.session.run({ role: "user", content: "go", timestamp: 0 });
    await run.consume((event) => {
      if (event.type === "tool_start") opened.approval.mode = "plan";
    });
    expect(requests.map((request) => lastTexts(request).length)).toEqual([1, 1]);
    expect(requests[1] && lastTexts(requests[1])[0]).toStartWith(
      "[What you may do has changed: Approval mode: plan.",
    );
  });

  test("back to what the model knows adds nothing", async () => {
    await using session = await openSession({ mode: "ask", turns: [{ text: "1" }, { text: "2" }] });
    await session.say("one");
    session.opened.approval.mode = "deny";
    session.opened.approval.mode = "ask";
    await session.say("two");
    expect(session.requests.map(lastTexts)).toEqual([["one"], ["two"]]);
  });
});
