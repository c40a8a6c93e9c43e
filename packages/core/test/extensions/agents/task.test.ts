import { describe, expect, test } from "bun:test";
import { AgentProject, delegate } from "../../support/agent-harness.ts";

const READ = { toolCalls: [{ name: "read", input: { file_path: "a.txt" } }] };

describe("a task", () => {
  test("is worked on in a session of its own, which names its parent, and its result says what was read", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "explore", prompt: "What is in a.txt?" }), { text: "Done." }],
      scripts: { explore: [READ, { text: "It says hello.\n[exit 0]" }] },
      files: { "a.txt": "hello\n" },
    });

    const events = await project.run();
    await project.close();

    const [result] = project.results;
    expect(result?.isError).toBe(false);
    expect(result?.output).toMatch(/^Sub-agent explore has finished \(2 turns, 1 call, /);
    expect(result?.output).toContain(
      "\n  It says hello.\n  [exit 0]\nRead: a.txt.\nChanged: no file by its tools.",
    );
    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "end_turn" });
    const [parent = [], child = []] = project.readSessionFiles();
    const link = parent.find(({ type }) => type === "task_link");
    expect(link).toMatchObject({ toolCallId: "call_1", sessionId: child[0]?.id, agent: "explore" });
    expect(child[0]).toMatchObject({
      parentSession: parent[0]?.id,
      parentEntry: link?.parentId,
      agent: "explore",
    });
    expect(child.map(({ message }) => message).find(Boolean)).toMatchObject({
      role: "user",
      content: "What is in a.txt?",
    });
  });

  test("emits the sub-agent's events with its id and the call that it works on", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "explore" }), { text: "Done." }],
      scripts: { explore: [{ text: "Found." }] },
    });

    const events = await project.run();
    await project.close();

    const [, child = []] = project.readSessionFiles();
    const own = events.filter((event) => event.type === "agent_event");
    expect(own.length).toBeGreaterThan(5);
    for (const event of own)
      expect(event).toMatchObject({ agentId: child[0]?.id, agent: "explore", parentToolCallId: "call_1" });
    expect(project.agentEvents.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["agent_start", "message_end", "usage", "turn_end", "agent_end"]),
    );
  });

  test("takes the next turn of the session's script where the sub-agent has no model of its own", async () => {
    const project = await AgentProject.open({
      turns: [delegate({}), { text: "I did it." }, { text: "It did it." }],
    });

    await project.run();
    await project.close();

    expect(project.results[0]?.output).toContain("\n  I did it.\n");
    expect(project.events.findLast((event) => event.type === "message_end")).toMatchObject({
      message: { content: [{ type: "text", text: "It did it." }] },
    });
  });

  test("whose provider fails is an error result that names the failure", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "explore" }), { text: "Never mind." }],
      scripts: { explore: [READ, { error: { errorType: "invalid_request", message: "no such model" } }] },
      files: { "a.txt": "hello\n" },
    });

    const events = await project.run();
    await project.close();

    expect(project.results[0]).toMatchObject({ isError: true });
    expect(project.results[0]?.output).toMatch(/^Sub-agent explore failed: no such model/);
    expect(project.results[0]?.output).toContain("Read: a.txt.");
    expect(events.at(-1)).toMatchObject({ type: "agent_end", stopReason: "end_turn" });
  });

  test("that ends without an answer is an error result", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "explore" }), { text: "Done." }],
      scripts: { explore: [{ text: "" }] },
    });

    await project.run();
    await project.close();

    expect(project.results[0]).toMatchObject({ isError: true });
    expect(project.results[0]?.output).toContain("ended without an answer");
  });

  test("for an unknown agent is refused with the names that there are", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "nobody\u001b[31m" }), { text: "Done." }],
    });

    await project.run();
    await project.close();

    expect(project.results[0]?.output).toBe(
      'There is no agent "nobody\\u001b[31m". The agents are: explore, general, reviewer.',
    );
  });

  test("cannot be given by a sub-agent", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "general" }), { text: "Done." }],
      scripts: { general: [delegate({ agent: "general" }), { text: "I cannot." }] },
    });

    await project.run();
    await project.close();

    const refused = project.agentEvents.find((event) => event.type === "tool_end");
    expect(refused).toMatchObject({ toolName: "task", isError: true });
    expect(project.readSessionFiles()).toHaveLength(2);
  });

  test("can be given by a sub-agent where maxDepth allows it, and no deeper", async () => {
    const project = await AgentProject.open({
      turns: [
        delegate({}),
        delegate({}),
        delegate({}),
        { text: "Third." },
        { text: "Second." },
        { text: "First." },
      ],
      config: { agentLimits: { maxDepth: 2 } },
    });

    await project.run();
    await project.close();

    expect(project.readSessionFiles()).toHaveLength(3);
    expect(project.results[0]?.output).toContain("Second.");
  });

  test("beyond the limit of a session is refused", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "explore" }, { agent: "explore" }, { agent: "explore" }), { text: "Done." }],
      scripts: { explore: [{ text: "Found." }] },
      config: { agentLimits: { maxPerSession: 2 } },
    });

    await project.run();
    await project.close();

    expect(project.results.map(({ isError }) => isError)).toEqual([false, false, true]);
    expect(project.results[2]?.output).toContain("which is the limit");
  });
});
