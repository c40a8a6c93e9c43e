import { describe, expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trustProject } from "../../../src/config/trust.ts";
import { describeProjectTrust } from "../../../src/harness/trust.ts";
import { AgentProject, delegate } from "../../support/agent-harness.ts";

const agent = (name: string, body = "You work.", head = "") =>
  `---\nname: ${name}\ndescription: Works as ${name}.\n${head}---\n${body}\n`;

describe("definitions of sub-agents", () => {
  test("of the user are used, and one of them replaces a built-in one", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "helper" }), { text: "Helped." }, { text: "Done." }],
      homeFiles: {
        ".claude/agents/helper.md": agent("helper"),
        ".config/diligent/agents/explore.md": agent("explore"),
        ".config/opencode/agent/nested/deep.md": "---\ndescription: Deep.\n---\nGo deep.",
      },
    });

    await project.run();
    await project.close();

    expect(project.opened.agents.definitions.map(({ name, source }) => [name, source])).toEqual([
      ["explore", "~/.config/diligent/agents/explore.md"],
      ["general", "built-in"],
      ["reviewer", "built-in"],
      ["deep", "~/.config/opencode/agent/nested/deep.md"],
      ["helper", "~/.claude/agents/helper.md"],
    ]);
    expect(project.results[0]?.output).toContain("Helped.");
  });

  test("of the project wait for trust: nothing of them reaches the model, and one line says so", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "local" }), { text: "Done." }],
      files: { ".claude/agents/local.md": agent("local"), ".diligent/agents/other.md": agent("other") },
    });

    await project.run();
    await project.close();

    expect(project.results[0]).toMatchObject({ isError: true });
    expect(project.results[0]?.output).toStartWith('There is no agent "local".');
    const notices = project.opened.notices.filter(({ code }) => code === "not_trusted");
    expect(notices.map(({ message }) => message)).toEqual([
      '2 sub-agents of this project wait for your trust and are not used; see "diligent trust"',
    ]);
  });

  test("of the project are used once they are trusted, and a changed one waits again", async () => {
    const files = { ".claude/agents/local.md": agent("local"), ".opencode/agents/other.md": agent("other") };
    const project = await AgentProject.open({ turns: [{ text: "Done." }], files });
    const { root, environment } = project;

    const description = await describeProjectTrust(root, environment);
    expect(description.waiting.map(({ kind, name, path }) => [kind, name, path])).toEqual([
      ["agent", "local", ".claude/agents/local.md"],
      ["agent", "other", ".opencode/agents/other.md"],
    ]);
    await trustProject(description, environment);
    writeFileSync(join(root, ".opencode/agents/other.md"), agent("other", "You do something else."));
    const names = await project.reopen((opened) => opened.agents.definitions.map(({ name }) => name));
    await project.close();

    expect(names).toContain("local");
    expect(names).not.toContain("other");
  });

  test("that lead out of the project by a link are not used", async () => {
    const project = await AgentProject.open({
      turns: [{ text: "Done." }],
      files: { ".claude/agents/kept.md": agent("kept") },
      homeFiles: { "elsewhere.md": agent("outside") },
    });
    symlinkSync(join(project.root, "..", "elsewhere.md"), join(project.root, ".claude/agents/outside.md"));

    const { waiting } = await describeProjectTrust(project.root, project.environment);
    await project.close();

    expect(waiting.map(({ name }) => name)).toEqual(["kept"]);
  });

  test("are changed, removed and added by the configuration", async () => {
    const project = await AgentProject.open({
      turns: [{ text: "Done." }],
      config: {
        agents: {
          reviewer: false,
          explore: { maxTurns: 7 },
          poet: { description: "Writes.", prompt: "Rhyme." },
        },
      },
    });
    await project.close();

    expect(
      project.opened.agents.definitions.map(({ name, maxTurns, prompt }) => [
        name,
        maxTurns,
        prompt.slice(0, 6),
      ]),
    ).toEqual([
      ["explore", 7, "You ex"],
      ["general", undefined, "# You "],
      ["poet", undefined, "Rhyme."],
    ]);
  });

  test("with a model that cannot be used here run with the session's, and the result says so", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "helper" }), { text: "Helped." }, { text: "Done." }],
      homeFiles: { ".claude/agents/helper.md": agent("helper", "You help.", "model: sonnet\n") },
    });

    await project.run();
    await project.close();

    expect(project.results[0]).toMatchObject({ isError: false });
    expect(project.results[0]?.output).toContain(
      'Its model "sonnet" cannot be used here, so it ran with scripted/',
    );
  });

  test("that leave no tool are refused instead of running without any", async () => {
    const project = await AgentProject.open({
      turns: [delegate({ agent: "helper" }), { text: "Done." }],
      homeFiles: { ".claude/agents/helper.md": agent("helper", "You help.", "tools: Teleport\n") },
    });

    await project.run();
    await project.close();

    expect(project.results[0]).toMatchObject({ isError: true });
    expect(project.results[0]?.output).toContain(
      "has none of the tools of this session: it asks for Teleport",
    );
  });

  test("may forbid commands that the session allows, and cannot allow what it refuses", async () => {
    const bash = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });
    const project = await AgentProject.open({
      turns: [
        delegate({ agent: "helper" }),
        bash("touch made.txt"),
        bash("echo hi"),
        { text: "Done." },
        { text: "End." },
      ],
      homeFiles: { ".claude/agents/helper.md": agent("helper", "You help.", "tools: Bash(touch *)\n") },
      config: { permissions: [{ permission: "execute", pattern: "touch *", action: "deny" }] },
      overrides: { approvalMode: "auto" },
    });

    await project.run();
    await project.close();

    const outputs = project.agentEvents.flatMap((event) => (event.type === "tool_end" ? [event.output] : []));
    expect(outputs[0]).toContain("the rule deny execute");
    expect(outputs[1]).toContain("the definition of the sub-agent helper forbids it");
  });
});
