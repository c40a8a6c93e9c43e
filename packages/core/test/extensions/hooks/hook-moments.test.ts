import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { trustProject } from "../../../src/config/trust.ts";
import { ProjectTrust } from "../../../src/config/trust-items.ts";
import { openHooks } from "../../../src/extensions/hooks/extension.ts";
import { loadConfig } from "../../../src/harness/load-config.ts";
import { describeProjectTrust } from "../../../src/harness/trust.ts";
import type { HarnessExtension, SessionChoices, SessionStart } from "../../../src/harness/types.ts";
import { AgentProject, delegate } from "../../support/agent-harness.ts";
import { countLeftRunning, uniqueSleepSeconds } from "../../support/process-census.ts";

const BASH = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });
const DONE = { text: "Done." };

/** The `hooks` setting with one command for each event. */
const hooksOf = (commands: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(commands).map(([event, command]) => [event, [{ hooks: [{ type: "command", command }] }]]),
  );

const answer = (decision: object) => `echo '${JSON.stringify({ hookSpecificOutput: { decision } })}'`;

interface Options {
  commands: Readonly<Record<string, string>>;
  turns: readonly Record<string, unknown>[];
  mode?: "auto" | "ask" | "deny";
  config?: Record<string, unknown>;
  choices?: SessionChoices;
}

function open({ commands, turns, mode = "ask", config = {}, choices }: Options): Promise<AgentProject> {
  return AgentProject.open({
    turns,
    ...(choices && { choices }),
    config: { hooks: hooksOf(commands), ...config },
    overrides: { approvalMode: mode },
  });
}

async function run(options: Options) {
  const project = await open(options);
  const events = await project.run();
  await project.close();
  const results = events.flatMap((event) => (event.type === "tool_end" ? [event] : []));
  const runs = events.flatMap((event) => (event.type === "hook" ? [event] : []));
  return { project, events, results, runs, isMade: existsSync(join(project.root, "made")) };
}

/** A user who answers every question with the given answer, and the number of questions. */
function askedUser(response: "once" | "reject" = "reject") {
  const asked: string[] = [];
  const choices: SessionChoices = {
    ask: async ({ details = {} }) => {
      asked.push(String(details.command));
      return { response };
    },
  };
  return { asked, choices };
}

describe("a PermissionRequest hook", () => {
  test("of the user allows in place of the user, and is told of the call", async () => {
    const { asked, choices } = askedUser();
    const { project, runs, isMade } = await run({
      commands: { PermissionRequest: `cat > told.json; ${answer({ behavior: "allow" })}` },
      turns: [BASH("touch made"), DONE],
      choices,
    });

    expect([isMade, asked]).toEqual([true, []]);
    expect(JSON.parse(project.read("told.json"))).toMatchObject({
      hook_event_name: "PermissionRequest",
      tool_name: "Bash",
      tool_input: { command: "touch made" },
      permission_mode: "ask",
    });
    expect(runs).toEqual([expect.objectContaining({ event: "PermissionRequest", outcome: "ok" })]);
  });

  test("allows where nobody can be asked", async () => {
    const { isMade } = await run({
      commands: { PermissionRequest: answer({ behavior: "allow" }) },
      turns: [BASH("touch made"), DONE],
      mode: "deny",
    });
    expect(isMade).toBe(true);
  });

  test("denies, and the model is told why", async () => {
    const { asked, choices } = askedUser("once");
    const { results, events, isMade } = await run({
      commands: {
        PermissionRequest: answer({ behavior: "deny", message: "not on Fridays", interrupt: true }),
      },
      turns: [BASH("touch made"), DONE],
      choices,
    });

    expect([isMade, asked]).toEqual([false, []]);
    expect(results[0]).toMatchObject({ isError: true, outcome: "rejected" });
    expect(results[0]?.output).toContain("not on Fridays");
    expect(events.findLast(({ type }) => type === "agent_end")).toMatchObject({ stopReason: "approval" });
  });

  test("that decides nothing, fails or hangs leaves it to the user", async () => {
    for (const command of ["true", "exit 1", "echo '{}'", "sleep 20"]) {
      const { asked, choices } = askedUser("once");
      const hooks = { PermissionRequest: [{ hooks: [{ type: "command", command, timeout: 0.3 }] }] };
      const { isMade } = await run({
        commands: {},
        config: { hooks },
        turns: [BASH("touch made"), DONE],
        choices,
      });
      expect([isMade, asked]).toEqual([true, ["touch made"]]);
    }
  });

  test("never allows what a rule denies or wants to be asked about", async () => {
    for (const action of ["deny", "ask"]) {
      const { asked, choices } = askedUser();
      const { isMade } = await run({
        commands: { PermissionRequest: answer({ behavior: "allow" }) },
        config: { permissions: [{ permission: "execute", pattern: "touch", action }] },
        turns: [BASH("touch made"), DONE],
        choices,
      });
      expect([isMade, asked.length]).toEqual([false, action === "ask" ? 1 : 0]);
    }
  });

  test("may change the arguments, which are decided about again", async () => {
    const change = (command: string) => answer({ behavior: "allow", updatedInput: { command } });
    const { asked, choices } = askedUser();
    const allowed = await run({
      commands: { PermissionRequest: change("touch made again") },
      turns: [BASH("touch other"), DONE],
      choices,
    });
    expect([allowed.isMade, existsSync(join(allowed.project.root, "other")), asked]).toEqual([
      true,
      false,
      [],
    ]);

    const denied = await run({
      commands: { PermissionRequest: change("touch made") },
      config: { permissions: [{ permission: "execute", pattern: "touch made", action: "deny" }] },
      turns: [BASH("touch other"), DONE],
      choices,
    });
    expect([denied.isMade, asked]).toEqual([false, ["touch other"]]);
  });

  test("of a project denies, and cannot allow", async () => {
    const settings = (decision: object) =>
      JSON.stringify({ hooks: hooksOf({ PermissionRequest: answer(decision) }) });
    for (const [behavior, asks] of [
      ["allow", 1],
      ["deny", 0],
    ] as const) {
      const { asked, choices } = askedUser();
      const project = await AgentProject.open({
        turns: [BASH("touch made"), DONE],
        files: { ".claude/settings.json": settings({ behavior }) },
      });
      const { root, environment } = project;
      await trustProject(await describeProjectTrust(root, environment), environment);
      await project.reopen(
        (opened) => opened.session.run({ role: "user", content: "Go.", timestamp: 0 }).result(),
        { ...choices, approvalMode: "ask" },
      );
      await project.close();
      expect([existsSync(join(root, "made")), asked.length]).toEqual([false, asks]);
    }
  });
});

describe("a Notification hook", () => {
  const commands = { Notification: "cat >> told.json" };

  test("is told that the user is asked", async () => {
    const { choices } = askedUser("once");
    const { project } = await run({ commands, turns: [BASH("touch made"), DONE], choices });
    expect(JSON.parse(project.read("told.json"))).toMatchObject({
      hook_event_name: "Notification",
      notification_type: "permission_prompt",
      message: "Bash needs your permission",
    });
  });

  test("is not told of what is refused without a question", async () => {
    const { choices } = askedUser();
    const denial = { permissions: [{ permission: "execute", pattern: "touch", action: "deny" }] };
    const ruled = await run({ commands, turns: [BASH("touch made"), DONE], choices, config: denial });
    const unattended = await run({ commands, turns: [BASH("touch made"), DONE], mode: "deny" });
    for (const { project } of [ruled, unattended])
      expect(existsSync(join(project.root, "told.json"))).toBe(false);
  });
});

/** The hooks of the configuration, which consider a user idle after this time. */
const hooksAfter = (idleAfterMs: number): HarnessExtension => ({
  name: "hooks",
  async openSession(scope) {
    const { root, environment } = scope;
    const hooks = await openHooks({
      ...{ environment, idleAfterMs, loaded: await loadConfig(root, environment) },
      trust: async () => new ProjectTrust({ root, environment }),
      plugins: async () => ({ active: [] }),
    });
    return hooks.openSession?.(scope) ?? {};
  },
  close() {},
});

describe("a Notification hook for a user who says nothing", () => {
  const openIdle = (idleAfterMs: number, choices: SessionChoices) =>
    AgentProject.open({
      ...{ turns: [DONE, DONE], choices, overrides: { extensions: [hooksAfter(idleAfterMs)] } },
      config: { hooks: hooksOf({ Notification: 'echo "$(cat)" >> told' }) },
    });

  test("is told once the answer has waited, and again after the next one", async () => {
    const project = await openIdle(20, askedUser().choices);
    const told = () =>
      existsSync(join(project.root, "told")) ? project.read("told").split("\n").length - 1 : 0;
    for (const count of [1, 2]) {
      await project.run();
      while (told() < count) await Bun.sleep(5);
    }
    const [line = ""] = project.read("told").split("\n");
    expect(JSON.parse(line)).toMatchObject({
      hook_event_name: "Notification",
      notification_type: "idle_prompt",
      message: "diligent is waiting for your input",
    });
    await project.close();
    expect(told()).toBe(2);
  });

  test("is not told before that, after the session, or where nobody is present", async () => {
    const attended = await openIdle(60_000, askedUser().choices);
    const unattended = await openIdle(0, {});
    for (const project of [attended, unattended]) {
      await project.run();
      await project.close();
      expect(existsSync(join(project.root, "told"))).toBe(false);
    }
  });
});

test("PreCompact and PostCompact are told of a compaction, and SessionStart again with the next prompt", async () => {
  const project = await open({
    commands: {
      PreCompact: "cat > pre.json",
      PostCompact: "cat > post.json",
      SessionStart: "cat >> start.jsonl; echo >> start.jsonl",
    },
    turns: [{ text: "one ".repeat(400) }, { text: "two ".repeat(400) }, { text: "A summary." }, DONE, DONE],
    config: { compaction: { keepRecentTokens: 1, model: undefined } },
  });
  await project.run();
  await project.run();
  const outcome = await project.opened.session.compact({ focus: "the names" });
  expect(outcome.kind).toBe("compacted");
  await project.run();
  await project.close();

  const { sessionId } = project.opened.session;
  expect(JSON.parse(project.read("pre.json"))).toMatchObject({
    ...{
      session_id: sessionId,
      hook_event_name: "PreCompact",
      trigger: "manual",
      custom_instructions: "the names",
    },
  });
  expect(JSON.parse(project.read("post.json"))).toMatchObject({
    ...{ hook_event_name: "PostCompact", trigger: "manual", compact_summary: expect.any(String) },
  });
  const starts = project.read("start.jsonl").split("\n").filter(Boolean);
  expect(starts.map((line) => JSON.parse(line).source)).toEqual(["startup", "compact"]);
});

test("SessionStart is told how the session began, and SessionEnd why it ended", async () => {
  const project = await open({
    commands: { SessionStart: 'echo "$(cat)" >> starts', SessionEnd: 'echo "$(cat)" >> ends' },
    turns: [DONE, DONE, DONE, DONE],
  });
  await project.run();
  const { sessionId } = project.opened.session;
  project.opened.close({ ending: "clear" });
  const begin = (start: SessionStart, isReplacing = false) =>
    project.reopen(({ session }) => session.run({ role: "user", content: "Go.", timestamp: 0 }).result(), {
      ...{ start, isReplacing },
    });
  await begin({ fresh: true }, true);
  await begin({ resume: sessionId });
  await begin({ fork: sessionId });
  await project.close();

  const told = (name: string) =>
    project
      .read(name)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  expect(told("starts").map(({ source }) => source)).toEqual(["startup", "clear", "resume", "fork"]);
  // Sessions are not waited for when they end.
  expect(
    told("ends")
      .map(({ reason }) => reason)
      .sort(),
  ).toEqual(["clear", "other", "other", "other"]);
});

describe("a SessionEnd hook", () => {
  test("is told why, and is listed and kept with its outcome", async () => {
    const project = await open({ commands: { SessionEnd: "cat > told.json" }, turns: [DONE] });
    await project.run();
    await project.close();

    expect(JSON.parse(project.read("told.json"))).toMatchObject({
      hook_event_name: "SessionEnd",
      reason: "other",
      transcript_path: expect.stringContaining(project.opened.session.sessionId),
    });
    const [entries = []] = project.readSessionFiles();
    expect(entries.at(-1)).toMatchObject({ type: "hook", event: "SessionEnd", outcome: "ok" });
  });

  test("that hangs is ended with the program, and nothing of it is left", async () => {
    const seconds = uniqueSleepSeconds();
    const project = await open({
      commands: { SessionEnd: `touch begun; sleep ${seconds} & sleep ${seconds}; touch late` },
      turns: [DONE],
    });
    await project.run();
    const begin = performance.now();
    await project.close();
    expect(performance.now() - begin).toBeLessThan(20_000);
    expect(existsSync(join(project.root, "late"))).toBe(false);
    expect(existsSync(join(project.root, "begun"))).toBe(true);
    expect(await countLeftRunning(seconds)).toBe(0);
  });
});

test("SubagentStart and SubagentStop are told which sub-agent it is, and only its own matcher counts", async () => {
  const entry = (matcher: string, command: string) => ({ matcher, hooks: [{ type: "command", command }] });
  const project = await AgentProject.open({
    turns: [delegate({ agent: "explore" }), DONE],
    scripts: { explore: [{ text: "Found it." }] },
    config: {
      hooks: {
        SubagentStart: [entry("explore", "cat > start.json"), entry("general", "touch other")],
        SubagentStop: [entry("explore", "cat > stop.json"), entry("general", "touch other")],
        SessionEnd: [entry("", "cat >> ends.jsonl; echo >> ends.jsonl")],
      },
    },
    overrides: { approvalMode: "auto" },
  });
  await project.run();
  await project.close();

  const about = { agent_type: "explore", agent_id: expect.any(String) };
  expect(JSON.parse(project.read("start.json"))).toMatchObject({
    ...about,
    hook_event_name: "SubagentStart",
  });
  expect(JSON.parse(project.read("stop.json"))).toMatchObject({
    ...about,
    ...{ hook_event_name: "SubagentStop", stop_hook_active: false, last_assistant_message: "Found it." },
  });
  expect(existsSync(join(project.root, "other"))).toBe(false);
  expect(project.read("ends.jsonl").trim().split("\n")).toHaveLength(1);
});
