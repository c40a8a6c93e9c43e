import { describe, expect, test } from "bun:test";
import { parseSessionLine } from "../../src/session/parse-line.ts";
import { readSessionFile } from "../../src/session/read-file.ts";
import { createTodoTool } from "../../src/tools/todo.ts";
import type { TodoItem } from "../../src/types.ts";
import { user } from "../support/agent-run.ts";
import { STAMP } from "../support/session-files.ts";
import { createSessionProject } from "../support/session-project.ts";
import { runTool } from "../support/tool-workspace.ts";

const items = (...contents: string[]): TodoItem[] =>
  contents.map((content, index) => ({ content, status: index === 0 ? "in_progress" : "pending" }));

async function sessionWithAnswer() {
  const project = await createSessionProject({ text: "one" }, { text: "two" }, { text: "three" });
  const session = project.manager();
  await session.run(user("first")).result();
  return { project, session };
}

describe("the checklist of a session", () => {
  test("is kept in the file and is there again after a resume", async () => {
    const { project, session } = await sessionWithAnswer();
    expect(session.todos).toEqual([]);
    session.setTodos(items("a", "b"));
    session.setTodos(items("b"));
    session.close();
    expect(project.lines().at(-1)).toMatchObject({ type: "todo", todos: items("b") });
    const resumed = project.manager();
    await resumed.resume({ mostRecent: true });
    expect(resumed.todos).toEqual(items("b"));
    await resumed.run(user("second")).result();
    expect(project.requests.at(-1)?.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("belongs to its branch, and is copied with it", async () => {
    const { session } = await sessionWithAnswer();
    const leaf = session.leafId ?? "";
    session.setTodos(items("kept"));
    await session.run(user("second")).result();
    session.setTodos(items("left"));
    session.branch(leaf);
    expect(session.todos).toEqual(items("kept"));
    session.branch(null);
    expect(session.todos).toEqual([]);
    session.branch(leaf);
    const copy = await session.fork();
    expect(copy.todos).toEqual(items("kept"));
    const copied = readSessionFile(copy.sessionPath ?? "").entries;
    expect(copied.filter(({ type }) => type === "todo")).toHaveLength(1);
  });

  test("is removed by an empty list", async () => {
    const { session } = await sessionWithAnswer();
    session.setTodos(items("a"));
    session.setTodos([]);
    expect(session.todos).toEqual([]);
  });

  test("is an event of the run in which it is set", async () => {
    const { session } = await sessionWithAnswer();
    session.setTodos(items("a"));
    const events: unknown[] = [];
    for await (const event of session.run(user("second"))) if (event.type === "todo") events.push(event);
    expect(events).toEqual([{ type: "todo", todos: items("a") }]);
  });

  test("follows the summary of a compaction, as it was at that time", async () => {
    const long = "a long story ".repeat(2_000);
    const project = await createSessionProject(
      { text: long },
      { text: long },
      { text: "summary" },
      { text: "x" },
    );
    const session = project.manager();
    await session.run(user("first")).result();
    session.setTodos([...items("write it"), { content: "read it", status: "completed" }]);
    await session.run(user("second")).result();
    await session.compact();
    session.setTodos(items("later"));
    const [summary] = session.context.messages;
    expect(JSON.stringify(summary)).toContain("The checklist at that time:\\n[>] write it\\n[x] read it");
    expect(JSON.stringify(summary)).not.toContain("later");
    session.close();
    const resumed = project.manager();
    await resumed.resume({ mostRecent: true });
    expect(resumed.context.messages[0]).toEqual(summary);
  });
});

test.each([
  [{}],
  [{ todos: "a" }],
  [{ todos: [{ content: "a" }] }],
  [{ todos: [{ content: 1, status: "pending" }] }],
])("a line with %j is kept as an unknown entry", (fields) => {
  const line = JSON.stringify({ type: "todo", id: "00000001", parentId: null, timestamp: STAMP, ...fields });
  const parsed = parseSessionLine(line);
  expect(parsed?.kind === "entry" && parsed.entry.type).toBe("unknown");
});

describe("the todo tool", () => {
  const saved: (readonly TodoItem[])[] = [];
  const tool = createTodoTool((todos) => saved.push(todos));

  test("replaces the whole list and answers with it", async () => {
    const todos = [
      { content: "a", status: "completed" },
      { content: "b", status: "in_progress", activeForm: "doing b" },
      { content: "c", status: "pending" },
    ];
    expect(await runTool(tool, { todos })).toEqual({ output: "[x] a\n[>] b\n[ ] c" });
    expect(saved.at(-1)).toMatchObject(todos);
    expect(await runTool(tool, { todos: [] })).toEqual({ output: "The checklist was removed." });
    expect(saved.at(-1)).toEqual([]);
  });

  test.each([
    [{}],
    [{ todos: "a" }],
    [{ todos: [{ content: "a", status: "done" }] }],
    [{ todos: [{ content: " ", status: "pending" }] }],
    [{ todos: [{ content: "x".repeat(1_001), status: "pending" }] }],
    [{ todos: Array(101).fill({ content: "a", status: "pending" }) }],
    [{ todos: [{ content: "a", status: "pending", priority: "high" }] }],
    [{ todos: [], more: true }],
  ])("does not take %.80j", (input) => {
    expect(tool.parameters.safeParse(input).success).toBe(false);
  });
});
