import { describe, expect, test } from "bun:test";
import type { ApprovalRequest, ApprovalVerdict, OfferedChoice } from "@diligent/core";
import type { PersonAnswer } from "@diligent/core/harness";
import { formatHint, formatQuestion, parseAnswer } from "../src/line-prompt/questions.ts";

const REQUEST: ApprovalRequest = {
  permission: "execute",
  toolName: "bash",
  description: "bash: npm test",
  details: { command: "npm test" },
};
const GRANTED: ApprovalVerdict = {
  action: "ask",
  gate: "shell_command",
  reason: "npm may do more than read",
  grants: [{ kind: "command", directory: "/app", words: ["npm", "te\u202est"] }],
};
const PLAIN: ApprovalVerdict = { action: "ask", gate: "unknown_target", reason: "it does not say" };

test("the question contains the gate, the command, and the meaning of each answer", () => {
  expect(formatQuestion(REQUEST, GRANTED)).toBe(
    [
      "Allow bash? Reason: npm may do more than read",
      "",
      "    npm test",
      "",
      "  a  always in this session, p  always in this project; allows:",
      "       exactly `npm 'te\\u{202e}st'` in /app",
      "  e  edit the command",
      "  n MESSAGE  no, with a message to the model",
      "Allow it? y (once) / a (always) / p (always, saved) / e (edit) / n: ",
    ].join("\n"),
  );
});

test("a change is shown with its path", () => {
  const details = { path: "/app/CLAUDE.md", diff: "-a\n+b" };
  const request: ApprovalRequest = { permission: "write", toolName: "edit", description: "", details };
  expect(formatQuestion(request, PLAIN)).toContain("\n    write /app/CLAUDE.md\n    \n    -a\n    +b\n");
});

describe("a change in a question", () => {
  const asking = (diff: string, path = "/app/CLAUDE.md") =>
    formatQuestion(
      { permission: "write", toolName: "edit", description: "", details: { path, diff } },
      PLAIN,
    );

  test("is cut in the middle if it is very long, with a note of how much is missing", () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `+line ${index}`);
    const shown = asking(lines.join("\n")).split("\n");
    expect(shown.slice(122, 127)).toEqual([
      "    +line 118",
      "    +line 119",
      "    ⟦800 lines of the diff omitted⟧",
      "    +line 920",
      "    +line 921",
    ]);
    expect(shown.at(-3)).toBe("  ⟦…⟧  a note by diligent, not part of the text");
  });

  test("is cut within a very long line, with a note of how much is missing", () => {
    const shown = asking(`+${"a".repeat(5_000)}curl evil`);
    expect(shown).toContain(
      `    +${"a".repeat(1_499)}⟦3010 characters omitted⟧${"a".repeat(491)}curl evil\n`,
    );
  });

  test("shows nothing that could pass for another line or hide one", () => {
    const shown = asking("-a\r\n+b\u202ec\x1b[2K\n", "/app/x\n\nAllow it? y");
    expect(shown).toContain(
      "\n    write /app/x\\x0a\\x0aAllow it? y\n    \n    -a\\r\n    +b\\u{202e}c\\x1b[2K\n",
    );
  });
});

describe("a long command in a question", () => {
  const asking = (command: string, verdict = PLAIN) =>
    formatQuestion({ ...REQUEST, details: { command } }, verdict).split("\n");

  test("of 200 lines is shown in full, followed by its length, and the decision is the last line", () => {
    const command = Array.from({ length: 200 }, (_, index) => `echo ${index}`);
    const shown = asking(command.join("\n"), GRANTED);
    expect(shown.slice(2, 202)).toEqual(command.map((line) => `    ${line}`));
    expect(shown.slice(-4)).toEqual([
      "  The command has 200 lines and 1689 characters, all shown above.",
      "  e  edit the command",
      "  n MESSAGE  no, with a message to the model",
      "Allow it? y (once) / a (always) / p (always, saved) / e (edit) / n: ",
    ]);
  });

  test("cannot push any of its text out of sight with blanks", () => {
    const shown = asking(`ls${" ".repeat(5_000)}${"\n".repeat(300)}${"\t".repeat(900)}rm -rf ~`);
    expect(shown).toEqual([
      "Allow bash? Reason: it does not say",
      "",
      "    ls⟦5000 spaces⟧",
      "    ⟦299 blank lines⟧",
      "    ⟦900 tabs⟧rm -rf ~",
      "",
      "  The command has 301 lines and 6210 characters, all shown above.",
      "  ⟦…⟧  a note by diligent, not part of the text",
      "  e  edit the command",
      "  n MESSAGE  no, with a message to the model",
      "Allow it? y (once) / e (edit) / n: ",
    ]);
  });
});

test("the question shows another tool's arguments in full, whatever their names", () => {
  const details = { command: "ls", path: "/app", target: "prod\u202e" };
  const shown = formatQuestion({ ...REQUEST, toolName: "deploy", details }, PLAIN);
  expect(shown).toContain(
    '{\n      "command": "ls",\n      "path": "/app",\n      "target": "prod\\u{202e}"\n    }\n',
  );
});

test("no name and no reason can add a line to the question", () => {
  const request: ApprovalRequest = { ...REQUEST, toolName: "x\nAllow it? y" };
  const [head, second] = formatQuestion(request, { ...PLAIN, reason: "a\r\nb" }).split("\n");
  expect([head, second]).toEqual(["Allow x\\x0aAllow it? y? Reason: a\\r\\x0ab", ""]);
});

test('"always" is offered and accepted only if there is something to allow', () => {
  expect(formatQuestion(REQUEST, PLAIN)).toEndWith("Allow it? y (once) / e (edit) / n: ");
  expect([formatHint(REQUEST, { ...PLAIN, isFixed: true }), formatHint(REQUEST, GRANTED)]).toEqual([
    "Please answer y or n.",
    "Please answer y, a, p, e or n.",
  ]);
  expect([parseAnswer("a", PLAIN), parseAnswer("p", PLAIN)]).toEqual([undefined, undefined]);
});

describe("a question about a command that can be allowed with other words", () => {
  const choice = (reach: OfferedChoice["reach"], text: string): OfferedChoice => ({
    reach,
    allows: [`\`${text}\` with\u202e`],
    examples: [text, `${text} src`],
  });
  const wide = {
    ...GRANTED,
    choices: [choice("exact", "npm test"), choice("prefix", "npm test"), choice("program", "npm")],
  };

  test("shows what each choice covers, with examples", () => {
    expect(formatQuestion(REQUEST, wide).split("\n").slice(4, 15)).toEqual([
      "  a  always in this session, p  always in this project; allows:",
      "       exactly `npm 'te\\u{202e}st'` in /app",
      "       such as  npm test",
      "                npm test src",
      "  a2, p2  the same, and more:",
      "       `npm test` with\\u{202e}",
      "       such as  npm test",
      "                npm test src",
      "  a3, p3  the same, and more:",
      "       `npm` with\\u{202e}",
      "       such as  npm",
    ]);
    expect(formatHint(REQUEST, wide)).toBe("Please answer y, a, p, a2, p2, a3, p3, e or n.");
  });

  test.each([
    ["a", { scope: "session" }],
    ["p1", { scope: "project" }],
    ["a2", { scope: "session", reach: "prefix" }],
    ["P3", { scope: "project", reach: "program" }],
  ])("takes %s for one of them", (line, meant) => {
    expect(parseAnswer(line, wide)).toEqual({ response: "always", ...meant } as PersonAnswer);
  });

  test.each(["a4", "a0", "a22", "a 2", "2", "y2", "n2x"])("does not take %s for one", (line) => {
    expect(parseAnswer(line, wide)).toBeUndefined();
    expect(parseAnswer("a2", GRANTED)).toBeUndefined();
  });
});

describe("an answer to a question", () => {
  const cases: [string, unknown][] = [
    ["y", { response: "once" }],
    [" YES ", { response: "once" }],
    ["a", { response: "always", scope: "session" }],
    ["Always", { response: "always", scope: "session" }],
    ["p", { response: "always", scope: "project" }],
    ["n", { response: "reject", message: expect.any(String), endTurn: true }],
    ["no", { response: "reject", message: expect.any(String), endTurn: true }],
    ["n  use git mv ", { response: "reject", message: "The user denied this: use git mv" }],
    ["", undefined],
    ["y but not now", undefined],
    ["a b", undefined],
    ["yy", undefined],
    ["nothing", undefined],
  ];
  for (const [line, expected] of cases) {
    test(JSON.stringify(line), () => expect<unknown>(parseAnswer(line, GRANTED)).toEqual(expected));
  }
});
