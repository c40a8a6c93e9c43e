import { describe, expect, test } from "bun:test";
import type { AgentEvent } from "../../../src/agent/types.ts";
import type { ApprovalRequest } from "../../../src/tool/types.ts";
import { AgentProject, delegate } from "../../support/agent-harness.ts";

/** How many sub-agents ran at the same time, at most. */
function countMostAtOnce(events: readonly AgentEvent[]): number {
  let running = 0;
  let most = 0;
  for (const event of events) {
    if (event.type !== "agent_event") continue;
    if (event.event.type === "agent_start") running += 1;
    if (event.event.type === "agent_end") running -= 1;
    most = Math.max(most, running);
  }
  return most;
}

const FIVE = Array.from({ length: 5 }, () => ({ agent: "explore" }));

describe("tasks of one reply", () => {
  test("run side by side, four at a time, and all are answered in call order", async () => {
    // Each of the first four waits for the three others.
    const wait = "touch here-$$; until [ $(ls here-* | wc -l) -ge 4 ]; do sleep 0.01; done";
    const project = await AgentProject.open({
      turns: [delegate(...FIVE.map(() => ({ agent: "worker" }))), { text: "Done." }],
      scripts: { worker: [{ toolCalls: [{ name: "bash", input: { command: wait } }] }, { text: "Met." }] },
      overrides: { approvalMode: "auto" },
    });

    await project.run();
    await project.close();

    expect(countMostAtOnce(project.events)).toBe(4);
    expect(project.results.map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual(
      FIVE.map((_, index) => [`call_${index + 1}`, false]),
    );
    expect(project.readSessionFiles()).toHaveLength(6);
  });

  test("run one at a time where maxParallel is 1", async () => {
    const project = await AgentProject.open({
      turns: [delegate(...FIVE), { text: "Done." }],
      scripts: { explore: [{ text: "Found.", delayMs: 5 }] },
      config: { agentLimits: { maxParallel: 1 } },
    });

    await project.run();
    await project.close();

    expect(countMostAtOnce(project.events)).toBe(1);
    expect(project.results.filter(({ isError }) => !isError)).toHaveLength(5);
  });

  /** Reads the file, waits until all others have read it, too, and changes a line. */
  const editAtTheSameTime = (name: string, count: number, [from, to]: readonly [string, string]) => {
    const wait = `touch read-${name}; while [ $(ls read-* | wc -l) -lt ${count} ]; do sleep 0.01; done`;
    return [
      { toolCalls: [{ name: "read", input: { file_path: "a.txt" } }] },
      { toolCalls: [{ name: "bash", input: { command: wait } }] },
      { toolCalls: [{ name: "edit", input: { file_path: "a.txt", old_string: from, new_string: to } }] },
      { text: "Edited." },
    ];
  };

  test("that edit the same line: one change is made, the other one is told of the conflict", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "one" }, { agent: "two" }), { text: "Done." }],
      scripts: {
        one: editAtTheSameTime("one", 2, ["value = 0", "value = 1"]),
        two: editAtTheSameTime("two", 2, ["value = 0", "value = 2"]),
      },
      files: { "a.txt": "value = 0\n" },
      overrides: { approvalMode: "auto" },
    });

    await project.run();
    await project.close();

    const edits = project.agentEvents.flatMap((event) =>
      event.type === "tool_end" && event.toolName === "edit" ? [event] : [],
    );
    expect(edits.map(({ isError }) => isError).sort()).toEqual([false, true]);
    expect(edits.find(({ isError }) => isError)?.output).toContain("has changed on disk since it was read");
    expect(["value = 1\n", "value = 2\n"]).toContain(project.read("a.txt"));
  });

  test("that edit different lines of one file lose no change, and all but the first are told", async () => {
    const names = ["one", "two", "three", "four"];
    const lines = (value: number) => names.map((name) => `${name} = ${value}\n`).join("");
    const project = await AgentProject.open({
      turns: [delegate(...names.map((agent) => ({ agent }))), { text: "Done." }],
      scripts: Object.fromEntries(
        names.map((name) => [name, editAtTheSameTime(name, 4, [`${name} = 0`, `${name} = 1`])]),
      ),
      files: { "a.txt": lines(0) },
      overrides: { approvalMode: "auto" },
    });

    await project.run();
    await project.close();

    expect(project.read("a.txt")).toBe(lines(1));
    const edits = project.agentEvents.flatMap((event) =>
      event.type === "tool_end" && event.toolName === "edit" ? [event.output] : [],
    );
    expect(edits.filter((output) => output.includes("had changed since it was read"))).toHaveLength(3);
  });
});

describe("the limits of a run", () => {
  test("count the turns of its sub-agents", async () => {
    const read = { toolCalls: [{ name: "ls", input: {} }] };
    const project = await AgentProject.open({
      turns: [delegate({ agent: "explore" }), { text: "Done." }],
      scripts: { explore: [read, read, read, read, { text: "Found." }] },
      overrides: { maxTurns: 3 },
    });

    const events = await project.run();
    await project.close();

    const turns = events.filter(
      (event) =>
        event.type === "turn_end" || (event.type === "agent_event" && event.event.type === "turn_end"),
    );
    expect(turns).toHaveLength(3);
    expect(project.results[0]).toMatchObject({ isError: true });
    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "max_turns" });
  });

  test("hold for the cost of four sub-agents together: it exceeds the limit by one request at most", async () => {
    const usage = { inputTokens: 100_000, outputTokens: 0 };
    const read = { usage, toolCalls: [{ name: "ls", input: {} }] };
    const project = await AgentProject.open({
      price: { inputCostPer1M: 1, outputCostPer1M: 1 },
      turns: [
        { ...delegate(...FIVE.slice(1)), usage },
        { text: "Done.", usage },
      ],
      scripts: { explore: Array.from({ length: 20 }, () => read) },
      overrides: { maxCost: 0.75 },
    });

    const events = await project.run();
    await project.close();

    const cost = sumCost(events);
    expect(cost).toBeGreaterThanOrEqual(0.75);
    expect(cost).toBeLessThan(0.75 + 0.1);
    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "max_cost" });
  });
});

function sumCost(events: readonly AgentEvent[]): number {
  return events.reduce((sum, event) => {
    if (event.type === "agent_event") return sum + sumCost([event.event]);
    return sum + (event.type === "usage" ? (event.cost ?? 0) : 0);
  }, 0);
}

describe("a run that is stopped", () => {
  test("stops its sub-agents, and every call in every session has a result", async () => {
    const bash = { toolCalls: [{ name: "bash", input: { command: "sleep 30" } }] };
    const project = await AgentProject.open({
      turns: [delegate({}, {}), { text: "never" }],
      scripts: { general: [bash, { text: "never" }] },
      overrides: { approvalMode: "auto" },
    });
    const stop = new AbortController();
    let commands = 0;
    project.onEvent = (event) => {
      if (event.type === "agent_event" && event.event.type === "tool_start" && ++commands === 2) stop.abort();
    };

    const events = await project.run(stop.signal);
    await project.close();

    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "aborted" });
    expect(project.opened.agents.list.map(({ state }) => state)).toEqual(["stopped", "stopped"]);
    for (const lines of project.readSessionFiles()) {
      const messages = lines.flatMap(({ message }) => (isMessage(message) ? [message] : []));
      const calls = messages.flatMap(({ content }) =>
        Array.isArray(content) ? content.filter(({ type }) => type === "tool_call").map(({ id }) => id) : [],
      );
      const answered = messages.flatMap(({ toolCallId }) => (toolCallId === undefined ? [] : [toolCallId]));
      expect(answered).toEqual(calls);
      expect(calls.length).toBeGreaterThan(0);
    }
  });
});

interface FileMessage {
  content?: unknown;
  toolCallId?: string;
}

function isMessage(value: unknown): value is FileMessage {
  return typeof value === "object" && value !== null;
}

describe("approvals of a sub-agent", () => {
  const bash = { toolCalls: [{ name: "bash", input: { command: "touch made.txt" } }] };

  test("are asked of the user as the sub-agent's, one at a time", async () => {
    const asked: ApprovalRequest[] = [];
    let open = 0;
    const project = await AgentProject.open({
      turns: [delegate({}, {}), { text: "Done." }],
      scripts: { general: [bash, { text: "Made." }] },
      choices: {
        approvalMode: "ask",
        async ask(request) {
          open += 1;
          expect(open).toBe(1);
          asked.push(request);
          await Bun.sleep(5);
          open -= 1;
          return "once";
        },
      },
    });

    const events = await project.run();
    await project.close();

    expect(asked.map(({ description, agent }) => [description, agent?.name, agent?.description])).toEqual([
      ["bash: touch made.txt", "general", "Do it"],
      ["bash: touch made.txt", "general", "Do it"],
    ]);
    const shown = events.filter((event) => event.type === "approval_request");
    expect(shown).toHaveLength(2);
    expect(shown.map((event) => "parentToolCallId" in event && event.parentToolCallId).sort()).toEqual([
      "call_1",
      "call_2",
    ]);
    expect(shown[0]).toMatchObject({ request: { agent: { name: "general" } } });
    expect(project.agentEvents.some(({ type }) => type === "approval_request")).toBe(false);
  });

  test("are refused where nobody can be asked, and the run ends like one whose own call was refused", async () => {
    const project = await AgentProject.open({
      turns: [delegate({}), { text: "It was refused." }],
      scripts: { general: [bash, { text: "I may not." }] },
      overrides: { approvalMode: "deny" },
    });

    const events = await project.run();
    await project.close();

    expect(project.results[0]).toMatchObject({ isError: true });
    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "approval" });
  });

  test("that end the turn end the parent's turn, too", async () => {
    const project = await AgentProject.open({
      turns: [delegate({}), { text: "never" }],
      scripts: { general: [bash, { text: "never" }] },
      choices: { approvalMode: "ask", ask: async () => ({ response: "reject", endTurn: true }) },
    });

    const events = await project.run();
    await project.close();

    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "approval" });
    expect(events.filter(({ type }) => type === "turn_end")).toHaveLength(1);
  });
});

describe("undo", () => {
  test("of a turn also undoes what its sub-agents have changed", async () => {
    const write = (name: string) => [
      { toolCalls: [{ name: "write", input: { file_path: `${name}.txt`, content: "made\n" } }] },
      { toolCalls: [{ name: "bash", input: { command: `echo more >> ${name}.txt` } }] },
      { text: "Made." },
    ];
    const project = await AgentProject.open({
      turns: [delegate({ agent: "general" }, { agent: "other" }), { text: "Done." }],
      scripts: { general: write("one"), other: write("two") },
      files: { "kept.txt": "kept\n" },
      overrides: { approvalMode: "auto" },
    });

    await project.run();
    expect([project.read("one.txt"), project.read("two.txt")]).toEqual(["made\nmore\n", "made\nmore\n"]);
    const undone = await project.opened.checkpoints.undo();
    await project.close();

    expect(undone?.restored.map(({ path, how }) => [path, how])).toEqual([
      ["one.txt", "removed"],
      ["two.txt", "removed"],
    ]);
  });
});

describe("a task in the background", () => {
  test("lets the parent continue, which is told of its end and reads the report as a result", async () => {
    const project = await AgentProject.open({
      turns: [
        delegate({ agent: "explore", background: true }),
        { toolCalls: [{ name: "job_output", input: { id: "1", wait_ms: 10_000 } }] },
        { text: "Done." },
      ],
      scripts: { explore: [{ text: "Found it.", delayMs: 50 }] },
    });

    await project.run();
    await project.close();

    expect(project.results[0]?.output).toMatch(/^Started job 1: sub-agent explore works in the background/);
    const read = project.events.find((event) => event.type === "tool_end" && event.toolName === "job_output");
    expect(read).toMatchObject({ isError: false });
    expect(read?.type === "tool_end" && read.output).toContain("\n  Found it.\n");
    expect(project.opened.agents.list[0]?.state).toBe("done");
  });

  test("that ends between two runs is reported with the next prompt, without its text", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "explore", background: true }), { text: "Started." }, { text: "Thanks." }],
      scripts: { explore: [{ text: "SECRET REPORT", delayMs: 20 }] },
    });

    await project.run();
    await project.opened.jobs.list[0]?.ended;
    const events = await project.run();
    await project.close();

    const notes = events.flatMap((event) => (event.type === "steering" ? [event.text] : []));
    expect(notes.join("\n")).toMatch(/^\[Job 1 ended \(exit 0\): task explore: Do it/);
    expect(notes.join("\n")).not.toContain("SECRET REPORT");
  });

  test("ends with the session", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "explore", background: true }), { text: "Started." }],
      scripts: { explore: [{ text: "never", delayMs: 60_000 }] },
    });

    await project.run();
    await project.close();

    expect(project.opened.agents.list[0]?.state).toBe("stopped");
  });
});
