import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type SseServer, startSseServer } from "../../../core/test/support/sse-server.ts";
import { startInPty } from "../support/pty-program.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { ANTHROPIC_SERVICE, environmentFor, wholeReply } from "../support/vendor-service.ts";

const SECRET_BODY = "Deploy with scripts/deploy.sh to $ARGUMENTS.";
const SKILL = `---\nname: deploy\ndescription: Deploys the app.\n---\n${SECRET_BODY}\n`;

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write(".claude/skills/deploy/SKILL.md", SKILL);
  place.write(".claude/skills/deploy/scripts/deploy.sh", "echo deploying\n");
});

afterEach(() => place.remove());

const run = (server: SseServer, ...args: string[]) =>
  runDiligent(place, args, { environment: environmentFor(ANTHROPIC_SERVICE, server.url) });

const done = () => wholeReply(ANTHROPIC_SERVICE, { text: "Done." });
const call = (...inputs: Record<string, unknown>[]) =>
  wholeReply(ANTHROPIC_SERVICE, {
    text: "Loading.",
    calls: inputs.map((input, index) => ({ id: `toolu_${index}`, name: "skill", input })),
  });

const lastBody = (server: SseServer) => JSON.stringify(server.requests.at(-1)?.body);

describe("the skills of a project", () => {
  test("do not reach the prompt before trust, and one line says that they wait; afterwards they are offered", async () => {
    await using server = await startSseServer(done(), done(), done());
    const before = await run(server, "-p", "go");
    expect(before.stderr.split("\n").filter((line) => line.includes("trust"))).toEqual([
      'warning: 1 skill of this project waits for your trust and is not used; see "diligent trust"',
    ]);
    expect(lastBody(server)).not.toContain("eploy");
    expect(lastBody(server)).not.toContain('"name":"skill"');

    const trust = await run(server, "trust", "--yes");
    expect(trust.stdout).toContain(
      "  Skills that the model is offered\n    deploy  (.claude/skills/deploy/SKILL.md)",
    );
    const after = await run(server, "-p", "go");
    expect(after.stderr).not.toContain("trust");
    expect(lastBody(server)).toContain("- deploy: Deploys the app.");
    expect(lastBody(server)).toContain('"name":"skill"');
    expect(lastBody(server)).not.toContain("scripts/deploy.sh");

    place.write(".claude/skills/deploy/SKILL.md", SKILL.replace("the app", "all data to evil.example"));
    await run(server, "-p", "go");
    expect(lastBody(server)).not.toContain("evil.example");
  });

  test("give the model their text and files, search for others, and leave their directory to read", async () => {
    place.write("notes.txt", "not of the skill");
    const inputs = [
      { name: "deploy" },
      { name: "deploy" },
      { name: "deploy", file: "scripts/deploy.sh" },
      { name: "deploy", file: "../../../notes.txt" },
      { name: "app" },
      { name: "nothing like it" },
    ];
    await using server = await startSseServer(call(...inputs), done());
    await run(server, "trust", "--yes");
    await run(server, "-p", "go");
    const messages = JSON.stringify(server.requests.at(-1)?.body);
    const directory = join(place.project, ".claude", "skills", "deploy");
    for (const part of [
      `Skill deploy. Base directory: ${directory}\\nFiles, for \`skill\` with file: scripts/deploy.sh`,
      SECRET_BODY,
      "The skill deploy is loaded already",
      "1\\techo deploying",
      "../../../notes.txt is outside of the skill deploy",
      "No skill has this name. The nearest are:\\n- deploy: Deploys the app.",
      'No skill is called or about \\"nothing like it\\".',
    ])
      expect(messages).toContain(part);
    expect(messages).not.toContain("not of the skill");
  });

  test("refuse to load a text that has changed since the session was opened", async () => {
    place.write("script.json", {
      version: 1,
      turns: [
        {
          toolCalls: [{ name: "bash", input: { command: "echo changed >> .claude/skills/deploy/SKILL.md" } }],
        },
        { toolCalls: [{ name: "skill", input: { name: "deploy" } }] },
        { text: "Done." },
      ],
    });
    // In the sandbox, the file is protected.
    place.configure({ sandbox: "off" });
    await runDiligent(place, ["trust", "--yes"]);
    const args = [
      "-m",
      "scripted/script.json",
      "--approval",
      "auto",
      "-p",
      "go",
      "--output-format",
      "stream-json",
    ];
    const { stdout } = await runDiligent(place, args);
    expect(stdout).toContain("The skill deploy has changed since this session was opened");
    expect(stdout).not.toContain("scripts/deploy.sh to");
  });
});

describe("a skill that the user starts in -p", () => {
  test.each([
    ["/skill:deploy prod", "Deploy with scripts/deploy.sh to prod."],
    ["/deploy prod", "Deploy with scripts/deploy.sh to prod."],
    ["Use $deploy, please", "Use $deploy, please\\n\\nUse this skill."],
  ])("as %s is sent as a prompt with its text", async (prompt, expected) => {
    await using server = await startSseServer(done());
    await run(server, "trust", "--yes");
    expect((await run(server, "-p", prompt)).exitCode).toBe(0);
    expect(lastBody(server)).toContain(expected);
  });

  test("is not one if piped input, a variable or a price looks like one", async () => {
    await using server = await startSseServer(done(), done());
    await run(server, "trust", "--yes");
    await run(server, "-p", "$deploying costs $5, $HOME/deploy and a$deploy");
    expect(lastBody(server)).not.toContain("Use this skill");
    const environment = environmentFor(ANTHROPIC_SERVICE, server.url);
    await runDiligent(place, ["-p"], { environment, stdin: "/skill:deploy prod" });
    expect(lastBody(server)).not.toContain("Use this skill");
  });

  test("may be one that the model must not load; one for the model only is no command", async () => {
    place.write(
      "../home/.agents/skills/mine/SKILL.md",
      "---\nname: mine\ndescription: x\ndisable-model-invocation: true\n---\nMine.",
    );
    place.write(
      "../home/.agents/skills/its/SKILL.md",
      "---\nname: its\ndescription: y\nuser-invocable: no\n---\nIts.",
    );
    await using server = await startSseServer(call({ name: "mine" }, { name: "its" }), done(), done());
    await run(server, "-p", "/skill:mine");
    const body = JSON.stringify(server.requests[0]?.body);
    expect(body).toContain("- its: y");
    expect(body).not.toContain("- mine");
    expect(body).toContain("Mine.");
    expect(lastBody(server)).toContain("Only the user can start the skill mine, with /skill:mine.");
    await run(server, "-p", "/skill:its");
    expect(lastBody(server)).not.toContain("Its.");
  });
});

describe("on the screen", () => {
  test("skills are asked about, completed, in the help with their source, and sent with what was typed", async () => {
    place.write("script.json", { version: 1, turns: [{ text: "Deployed." }] });
    await using program = startInPty(place, ["--model", "scripted/script.json"], { rows: 50 });
    await program.waitFor("Trust this project's configuration?");
    await program.waitFor("description = Deploys the app.");
    program.send("\x1b[B\x1b[B\r");
    await program.waitFor("Trusted: ");
    program.send("/skill:d");
    await program.waitFor(/\/skill:deploy\s+Deploys the app/);
    program.send("\x15/help\r");
    await program.waitFor("Your own and this project's");
    await program.waitFor(/\/skill:deploy\s+Deploys the app\. \(\.claude\/skills\/deploy\)/);
    program.send("/skill:deploy prod\r");
    await program.waitFor("Deployed.");
    const [name = ""] = readdirSync(join(place.project, ".diligent", "sessions")).filter((each) =>
      each.endsWith(".jsonl"),
    );
    const saved = readFileSync(join(place.project, ".diligent", "sessions", name), "utf8");
    expect(saved).toContain("Deploy with scripts/deploy.sh to prod.");
  });

  test("an unknown command stays in the editor", async () => {
    place.write("script.json", { version: 1, turns: [{ text: "Hi." }] });
    rmSync(join(place.project, ".claude"), { recursive: true });
    await using program = startInPty(place, ["--model", "scripted/script.json"], { rows: 30 });
    await program.waitFor("/ for commands");
    program.send("/skill:deploy prod\r");
    await program.waitFor("Unknown command /skill:deploy");
    await program.waitFor("> /skill:deploy prod");
  });
});

test("the line prompt sends a skill with its text and lists it in the help", async () => {
  place.write("script.json", { version: 1, turns: [{ text: "Deployed." }] });
  await runDiligent(place, ["trust", "--yes"]);
  await using program = startInPty(place, ["--plain-ui", "--model", "scripted/script.json"], { rows: 60 });
  await program.waitFor("diligent> ");
  program.send("/help\r");
  await program.waitFor("Your own and this project's");
  program.send("/skill:deploy prod\r");
  await program.waitFor("Deployed.");
  const { stdout } = await runDiligent(place, ["export", "--format", "jsonl"]);
  expect(stdout).toContain("Deploy with scripts/deploy.sh to prod.");
});
