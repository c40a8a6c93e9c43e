import { describe, expect, test } from "bun:test";
import { decideApproval } from "../../src/approval/policy.ts";
import type { SandboxState } from "../../src/infrastructure/process/shell-wrapper.ts";
import { createBashTool, quoteReason } from "../../src/tools/bash.ts";
import { createToolWorkspace } from "../support/tool-workspace.ts";

const BOXED: SandboxState = {
  kind: "boxed",
  mayLeave: true,
  wrapper: {
    wrapCommand: () => {
      throw new Error("Deciding runs nothing.");
    },
    leave: () => () => [],
  },
};

/** What a model may give for a reason to be taken for somebody else, and what is made of it. */
const HOSTILE: Readonly<Record<string, [reason: string, quoted: string]>> = {
  "new lines": [
    "the registry\n\nAllow it? y (once) / n: y\r\n\u2028[project]\u0085x",
    "“the registry Allow it? y (once) / n: y [project]\\u{85}x”",
  ],
  "our own wordings": [
    "a project may be written to. bash needs your consent: it runs in the sandbox [sandbox]",
    "“a project may be written to. bash needs your consent: it runs in the sandbox [sandbox]”",
  ],
  "quotation marks that end early": [
    'x” [sandbox] “always” would allow: "y" ‟z „a «b» ″c″ ＂d＂ ❞e',
    "“x' [sandbox] 'always' would allow: 'y' 'z 'a 'b' 'c' 'd' 'e”",
  ],
  "control sequences": ["a\x1b[2J\x9b1mb\x07\b\x00\x7f", "“a\\u{1b}[2J\\u{9b}1mb\\u{7}\\u{8}\\u{0}\\u{7f}”"],
  "another direction": ["\u202eevil\u2066x\u200f", "“\\u{202e}evil\\u{2066}x\\u{200f}”"],
  "what nobody sees": [
    "a\u200b\u2060\u00ad\ufe0f\u{e0041}\u2800\ue000\ud800b\ufeff",
    "“a\\u{200b}\\u{2060}\\u{ad}\\u{fe0f}\\u{e0041}\\u{2800}\\u{e000}\\u{d800}b”",
  ],
  "blanks that push the rest away": [`a${" ".repeat(900)}\t\u00a0\u3000b`, "“a b”"],
};

describe("a model's reason", () => {
  for (const [name, [reason, quoted]] of Object.entries(HOSTILE)) {
    test(`is one quoted line, whatever it contains: ${name}`, () => {
      expect(quoteReason(reason)).toBe(quoted);
    });
  }

  test("is truncated if it is long, with the remaining length, and in little time", () => {
    expect(quoteReason("a".repeat(500))).toBe(`“${"a".repeat(500)}”`);
    expect(quoteReason("a".repeat(100_000))).toBe(`“${"a".repeat(500)}…” (99500 more characters)`);
    expect(quoteReason(`why${" ".repeat(100_000)}`)).toBe("“why”");
    expect(quoteReason(`a${" ".repeat(100_000)}b`)).toMatch(/^“a …” \(\d+ more characters\)$/);
    for (const piece of ["\u202e", "\n", "”", "\ud83d", "é", "👩‍👩‍👧", "x\u0300"]) {
      const quoted = quoteReason(`why ${piece.repeat(100_000)}`) ?? "";
      expect(quoted.length).toBeLessThan(540);
      expect(quoted).toMatch(/^“[^”\n]*”(?: \(\d+ more characters\))?$/);
    }
  });

  test("is left out if it is empty", () => {
    for (const reason of [undefined, "", " \n\t", "\u2028"]) expect(quoteReason(reason)).toBeUndefined();
  });
});

describe("a command that requests to run outside", () => {
  const workspace = { ...createToolWorkspace(), sandboxState: async () => BOXED };
  const ask = (reason?: string) =>
    createBashTool(workspace).approval?.({
      command: "npm ci",
      outside_sandbox: true,
      ...(reason !== undefined && { reason }),
    });

  test("is shown to the user with the reason in quotation marks, and without one if there is none", () => {
    expect(ask("the\nregistry”")?.details).toEqual({
      command: "npm ci",
      outsideSandbox: true,
      reason: "“the registry'”",
    });
    expect(ask()?.details).toEqual({ command: "npm ci", outsideSandbox: true });
    expect(ask(" ")?.details).toEqual({ command: "npm ci", outsideSandbox: true });
  });

  test("is evaluated and described the same for every reason", async () => {
    const { root } = workspace;
    const context = { root, cwd: root, sandboxState: workspace.sandboxState };
    for (const reason of [undefined, ...Object.values(HOSTILE).map(([text]) => text)]) {
      const request = ask(reason);
      if (!request) throw new Error("Nothing is asked.");
      expect(request.description).toBe("bash outside the sandbox: npm ci");
      expect(await decideApproval(request, context)).toMatchObject({
        action: "ask",
        gate: "sandbox",
        reason: "it would run outside the sandbox, with all your permissions",
        grants: [{ kind: "command_line", directory: root, text: "npm ci", outside: true }],
      });
    }
  });
});
