import { describe, expect, test } from "bun:test";
import { createAskUserTool } from "../../src/tools/ask-user.ts";
import { runTool } from "../support/tool-workspace.ts";

const QUESTION = {
  question: "Which color?",
  header: "Color",
  options: [{ label: "red" }, { label: "blue" }],
};

describe("the ask_user tool", () => {
  test("returns each question with its answers", async () => {
    const tool = createAskUserTool(async () => [["red", "blue"], []]);
    const questions = [
      { ...QUESTION, multiSelect: true },
      { question: "Why? ", options: [] },
    ];
    expect(await runTool(tool, { questions })).toEqual({
      output: "Which color?\n→ red, blue\nWhy?\n→ (no answer)",
    });
    expect([tool.isOffered?.(), tool.approval?.({ questions })]).toEqual([true, undefined]);
  });

  test("says so when the user does not answer", async () => {
    const { output, isError } = await runTool(
      createAskUserTool(async () => undefined),
      { questions: [QUESTION] },
    );
    expect(output).toContain("The user did not answer.");
    expect(isError).toBeUndefined();
  });

  test("is not offered without a user, and a call of it is refused with the reason", async () => {
    const tool = createAskUserTool(undefined);
    expect(tool.isOffered?.()).toBe(false);
    const { output, isError } = await runTool(tool, { questions: [QUESTION] });
    expect(output).toContain("No user is present to answer.");
    expect(isError).toBe(true);
  });

  test.each([
    [{}],
    [{ questions: [] }],
    [{ questions: "Which?" }],
    [{ questions: [{ question: "", options: [] }] }],
    [{ questions: [{ question: "a" }] }],
    [{ questions: [{ question: "a", options: ["red"] }] }],
    [{ questions: [{ question: "x".repeat(2_001), options: [] }] }],
    [{ questions: Array(5).fill(QUESTION) }],
    [{ questions: [{ ...QUESTION, more: 1 }] }],
  ])("does not take %.80j", (input) => {
    expect(createAskUserTool(undefined).parameters.safeParse(input).success).toBe(false);
  });
});
