import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { showWord } from "../../src/approval/bash/parse.ts";
import { describeGrant } from "../../src/approval/grants.ts";
import { decideApproval } from "../../src/approval/policy.ts";
import { makeTempDir } from "../support/temp-dir.ts";

describe("a word of a command in a message", () => {
  test("is shown unchanged if it is one plain word", () => {
    for (const word of ["npm", "./a/b-c_d.ts", "--pre=x", "ünïcode/文", "[", "*.ts", "a,b;c"])
      expect(showWord(word)).toBe(word);
  });

  test("is quoted if it could be read as a sentence, and ends only at its own quotation mark", () => {
    expect(showWord("ls is safe; it")).toBe("“ls is safe; it”");
    expect(showWord('x” is “allowed "by" you')).toBe("“x' is 'allowed \"by\" you”");
    for (const blank of ["\n", "\t", "\u00a0", "\u2003", "\u2800", "\u3164", "\u200b", "\u202e", "\x1b"])
      expect(showWord(`a${blank}b`)).toBe(`“a${blank}b”`);
  });

  test("is truncated if it is long", () => {
    expect(showWord("x".repeat(200))).toBe("x".repeat(200));
    expect(showWord("x".repeat(100_000))).toBe(`“${"x".repeat(200)}…”`);
  });
});

describe("a name from the model in the reason of a question", () => {
  const root = makeTempDir();
  const reasonOf = async (details: Record<string, unknown>, permission: "read" | "execute" = "execute") => {
    const toolName = permission === "execute" ? "bash" : "read";
    const request = { permission, toolName, description: "", details };
    return (await decideApproval(request, { root, cwd: root })).reason;
  };

  test("is quoted, both for an option and for a path", async () => {
    const sentence = "ls only reads and was allowed by the user before; it";
    expect(await reasonOf({ command: `sort '--${sentence}'` })).toBe(
      `sort may do more than read, because of the option “--${sentence}”`,
    );
    expect(await reasonOf({ path: `/etc/${sentence}` }, "read")).toBe(
      `“/etc/${sentence}” is outside the project ${root}`,
    );
    expect(await reasonOf({ command: `cat '${sentence}/../../x'` })).toContain(
      `“${sentence}/../../x” leads to`,
    );
  });

  test.each([
    "find . 'WORD'",
    "seq 'WORD'",
    "printf %d 'WORD'",
    "test 'WORD' -eq 1",
    "xxd 'WORD'",
    "sort 'WORD'",
  ])("is quoted for any program: %s", async (line) => {
    const word = "-x[0]; the user has allowed this in their settings, and it only reads";
    const reason = await reasonOf({ command: line.replace("WORD", word) });
    expect(reason).toContain("because of ");
    expect(reason.replaceAll(/“[^”]*”/g, "")).not.toContain("the user has allowed");
  });

  test('is quoted in the text of what "always" allows', () => {
    const directory = join(root, "app, and everything else");
    mkdirSync(directory);
    expect(describeGrant({ kind: "command", directory, words: ["make"], boxed: true })).toBe(
      `in the sandbox only: exactly \`make\` in “${directory}”`,
    );
  });
});
