import { expect, test } from "bun:test";
import { AgentProject, delegate } from "../../support/agent-harness.ts";

const call = (name: string, input: Record<string, unknown>) => ({ toolCalls: [{ name, input }] });
const git = "git -c user.name=t -c user.email=t@example.com";

test("explore finds where something is defined and used, and has no tool that changes anything", async () => {
  const project = await AgentProject.open({
    turns: [delegate({ agent: "explore", prompt: "Where is parseToken used?" }), { text: "Done." }],
    scripts: {
      explore: [
        call("grep", { pattern: "parseToken", output_mode: "content" }),
        call("read", { file_path: "src/login.ts" }),
        call("bash", { command: "touch made.txt" }),
        { text: "Defined in src/token.ts:1, used in src/login.ts:2." },
      ],
    },
    files: {
      "src/token.ts": "export function parseToken() {}\n",
      "src/login.ts": 'import { parseToken } from "./token.ts";\nparseToken();\n',
    },
    overrides: { approvalMode: "auto" },
  });

  await project.run();
  await project.close();

  const ended = project.agentEvents.flatMap((event) => (event.type === "tool_end" ? [event] : []));
  expect(ended[0]?.output).toContain("src/login.ts");
  expect(ended[1]).toMatchObject({ toolName: "read", isError: false });
  expect(ended[2]?.output).toBe('There is no tool "bash". The tools are: read, ls, glob, grep, recall.');
  expect(project.results[0]?.output).toContain(
    "  Defined in src/token.ts:1, used in src/login.ts:2.\nRead: src/login.ts.",
  );
});

test("general changes a file, runs the test and reports both", async () => {
  const project = await AgentProject.open({
    turns: [delegate({ agent: "general", prompt: "Make add() add." }), { text: "Done." }],
    scripts: {
      general: [
        call("read", { file_path: "add.sh" }),
        call("edit", { file_path: "add.sh", old_string: "$1 - $2", new_string: "$1 + $2" }),
        call("bash", { command: "[ $(sh add.sh 2 3) = 5 ] && echo passed" }),
        { text: "add.sh:1 adds now; the test passed." },
      ],
    },
    files: { "add.sh": "echo $(($1 - $2))\n" },
    overrides: { approvalMode: "auto" },
  });

  await project.run();
  await project.close();

  const ended = project.agentEvents.flatMap((event) => (event.type === "tool_end" ? [event.output] : []));
  expect(ended.at(-1)).toStartWith("passed");
  expect(project.read("add.sh")).toBe("echo $(($1 + $2))\n");
  expect(project.results[0]?.output).toEndWith("Read: no file by its tools.\nChanged: add.sh.");
});

test("reviewer sees the uncommitted change by git and cannot change a file", async () => {
  const project = await AgentProject.open({
    turns: [delegate({ agent: "reviewer", prompt: "Review." }), { text: "Done." }],
    scripts: {
      reviewer: [
        call("bash", { command: "git diff" }),
        call("edit", { file_path: "add.sh", old_string: "+", new_string: "-" }),
        { text: "add.sh:1 subtracts: the sign is wrong." },
      ],
    },
    files: { "add.sh": "echo $(($1 + $2))\n" },
    overrides: { approvalMode: "ask" },
  });
  const commit = `rm -rf .git && git init -q && git add add.sh && ${git} commit -qm first && echo 'echo $(($1 - $2))' > add.sh`;
  Bun.spawnSync(["sh", "-c", commit], { cwd: project.root });

  await project.run();
  await project.close();

  const ended = project.agentEvents.flatMap((event) => (event.type === "tool_end" ? [event] : []));
  expect(ended[0]).toMatchObject({ toolName: "bash", isError: false });
  expect(ended[0]?.output).toContain("+echo $(($1 - $2))");
  expect(ended[1]).toMatchObject({ toolName: "edit", isError: true });
  expect(project.results[0]?.output).toContain("  add.sh:1 subtracts: the sign is wrong.");
});
