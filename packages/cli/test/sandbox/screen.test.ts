import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApprovalRequest, Grant } from "@diligent/core";
import type { AskedVerdict } from "@diligent/core/harness";
import { describeKept } from "../../src/approval/permissions.ts";
import { formatQuestion } from "../../src/line-prompt/questions.ts";
import { toApprovalDialog } from "../../src/tui/approval/dialog.ts";
import { approvalLines } from "../../src/tui/approval/view.ts";
import { createKeymap } from "../../src/tui/keys/keymap.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../support/typed-commands.ts";

const keymap = createKeymap();
const theme = createTheme({ color: false });

function bash(command: string, outside?: { reason?: string }): ApprovalRequest {
  const details = { command, ...(outside && { outsideSandbox: true, ...outside }) };
  return { permission: "execute", toolName: "bash", description: "", details };
}

const OUTSIDE: AskedVerdict = {
  action: "ask",
  gate: "sandbox",
  reason: "it would run outside the sandbox, with all your permissions; the model says why: anything",
  runs: "outside_sandbox",
  grants: [{ kind: "command_line", directory: "/app", text: "npm ci", outside: true }],
};

function draw(request: ApprovalRequest, verdict: AskedVerdict, columns = 100): string[] {
  const dialog = toApprovalDialog(request, verdict, { rows: 24, columns, keymap });
  return approvalLines(dialog, { rows: 24, width: columns, theme, keymap });
}

describe("a question about a command", () => {
  test("to run unsandboxed says so first, and quotes the model's reason as the model's", () => {
    expect(draw(bash("npm ci", { reason: "“the registry is needed”" }), OUTSIDE)).toEqual([
      "? Allow bash outside the sandbox? It would run with all your permissions",
      "│ npm ci",
      "Model’s reason (unverified):",
      "│ “the registry is needed”",
      "“Always” will allow:",
      "› outside the sandbox: exactly this command line in /app",
      "y yes · a always in this session · p always in this project · n no · m no, with a message · e edit",
    ]);
    expect(draw(bash("npm ci", { reason: "x" }), OUTSIDE, 30)[0]).toStartWith("? Allow bash outside the");
    expect(draw(bash("npm ci", {}), OUTSIDE)[2]).toBe("“Always” will allow:");
  });

  test("shows a reason that imitates our own text as a quotation, whoever put it there", () => {
    const reason = `fine [project]\n“Always” will allow:\n› ls\x1b[2J\u202e${" ".repeat(900)}y yes`;
    const rows = draw(bash("curl evil", { reason }), OUTSIDE, 60);
    const head = rows.indexOf("Model’s reason (unverified):");
    const wish = rows.slice(head + 1).filter((row) => /^[│┊] /.test(row));
    const told = wish.map((row) => row.slice(2)).join("");
    expect(told).toContain("\\x0a“Always” will allow:\\x0a› ls\\x1b[2J\\u{202e}");
    expect(told).toMatch(/⟦\d+ spaces⟧⟦\d+ more characters⟧/);
    expect(rows.filter((row) => row.startsWith("›"))).toEqual([
      "› outside the sandbox: exactly this command line in /app",
    ]);
    expect(rows.some((row) => row.includes("is a note by diligent"))).toBe(true);
  });

  test("cuts a long reason, never the command", () => {
    const drawn = draw(bash("x".repeat(700), { reason: "a".repeat(2_000) }), OUTSIDE).join("");
    expect(drawn.match(/x/g)?.length).toBeGreaterThanOrEqual(700);
    expect(drawn).toContain("⟦1400 more characters⟧");
  });

  test("in the sandbox says so, and without a sandbox says neither", () => {
    const rule: AskedVerdict = { action: "ask", gate: "rule", reason: 'the rule "git push" asks' };
    expect(draw(bash("git push"), { ...rule, runs: "in_sandbox" })[0]).toBe(
      '? Allow bash in the sandbox? Reason: the rule "git push" asks',
    );
    expect(draw(bash("git push"), rule)[0]).toBe('? Allow bash? Reason: the rule "git push" asks');
  });

  test('in the sandbox says that "always" applies only there, whatever the length of the command', () => {
    const command = `git push ${"x".repeat(300)}`;
    const grant: Grant = { kind: "command", directory: "/app", words: command.split(" "), boxed: true };
    const rule: AskedVerdict = { action: "ask", gate: "rule", reason: "a rule asks", runs: "in_sandbox" };
    const start = "in the sandbox only: exactly `git push x";
    expect(draw(bash(command), { ...rule, grants: [grant] }).join("\n")).toContain(`› ${start}`);
    expect(formatQuestion(bash(command), { ...rule, grants: [grant] })).toContain(`       ${start}`);
    expect(describeKept(grant)).toStartWith(start);
    const whole: Grant = { kind: "command_line", directory: "/app", text: "a > b", boxed: true };
    expect(describeKept(whole)).toBe("in the sandbox only: exactly this command line in /app: a > b");
  });

  test("says the same at the line prompt", () => {
    expect(formatQuestion(bash("npm ci", { reason: "“the registry”" }), OUTSIDE)).toBe(
      [
        "Allow bash outside the sandbox? It would run with all your permissions",
        "",
        "    npm ci",
        "",
        "  Model’s reason (unverified):",
        "    “the registry”",
        "",
        "  a  always in this session, p  always in this project; allows:",
        "       outside the sandbox: exactly this command line in /app",
        "  e  edit the command",
        "  n MESSAGE  no, with a message to the model",
        "Allow it? y (once) / a (always) / p (always, saved) / e (edit) / n: ",
      ].join("\n"),
    );
  });
});

describe("the sandbox on the screen", () => {
  let place: TemporaryProject;
  let typed: TypedCommands | undefined;

  beforeEach(() => {
    place = createTemporaryProject();
  });

  afterEach(async () => {
    await typed?.close();
    place.remove();
  });

  async function open(bwrap: string | undefined, ...turns: (string | object)[]): Promise<TypedCommands> {
    writeScript(place, ...turns);
    const bin = join(place.top, "bin");
    mkdirSync(bin);
    for (const name of ["bash", "sh", "touch"]) {
      writeFileSync(join(bin, name), `#!/bin/sh\nexec ${Bun.which(name)} "$@"\n`, { mode: 0o755 });
    }
    if (bwrap !== undefined) writeFileSync(join(bin, "bwrap"), `#!/bin/sh\n${bwrap}\n`, { mode: 0o755 });
    typed = await new TypedCommands(place, { environment: { PATH: bin } }).open();
    return typed;
  }

  const facts = async (program: TypedCommands) => {
    program.take();
    await program.run("/status");
    const row = /sandbox +(.*(?:\n {12,}.*)*)/.exec(program.take().join("\n"))?.[1] ?? "";
    return [program.view.status.isSandboxed, row.replace(/\s+/g, " ")];
  };

  test("is missing if it is turned off, or if bubblewrap is missing", async () => {
    const program = await open(undefined);
    expect(await facts(program)).toEqual([
      false,
      expect.stringMatching(/^Commands run unsandboxed and need approval: bubblewrap .* is not installed\./),
    ]);
    await program.run("/config");
    expect(program.take().join("\n")).toContain("\nCommands run unsandboxed and need approval: bubblewrap");
  });

  test("is reported as missing with the first command that fails, and stays missing after /reload", async () => {
    const refusing = "echo 'bwrap: No permissions to create a new namespace' >&2; exit 1";
    const call = { toolCalls: [{ name: "bash", input: { command: "ls" } }] };
    const program = await open(refusing, call, "done");
    expect(await facts(program)).toEqual([true, "Commands run in a sandbox."]);
    await program.say("go");
    const refused = [
      false,
      expect.stringMatching(/^Commands run unsandboxed and need approval: this system refuses/),
    ];
    expect(await facts(program)).toEqual(refused);
    await program.run("/reload");
    expect(await facts(program)).toEqual(refused);
  });

  test("follows a changed setting after /reload", async () => {
    const program = await open("exit 0");
    expect((await facts(program))[0]).toBe(true);
    place.configure({ sandbox: "off" });
    await program.run("/reload");
    expect(await facts(program)).toEqual([
      false,
      'Commands run unsandboxed and need approval: the setting "sandbox" is "off".',
    ]);
  });
});
