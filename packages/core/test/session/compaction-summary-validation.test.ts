import { describe, expect, test } from "bun:test";
import { assessSummary, extractKeywords, summaryWarnings } from "../../src/session/compaction/summarize.ts";
import type { Message } from "../../src/types.ts";
import { assistant, call, result, user } from "../support/messages.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";

const edited = (path: string): Message[] => [
  assistant([call(path, "edit", { file_path: path })]),
  result(path, "done", { toolName: "edit" }),
];

describe("extractKeywords", () => {
  test("finds the names of modified files and what looks like code in the user's messages", () => {
    const messages = [
      user("Rename parseNumber in `src/lexer.ts`, as max_digits and ERR_RANGE say. Thanks, 1.5 times!"),
      ...edited("src/parser.ts"),
      user("And `the grammar`, please."),
    ];
    expect(extractKeywords(messages)).toEqual([
      "parser.ts",
      "the grammar",
      "parseNumber",
      "lexer.ts",
      "max_digits",
      "ERR_RANGE",
    ]);
  });

  test("keeps at most 20, and ends quickly on a pasted file", () => {
    const pasted = "one_two three.four/five ".repeat(200_000);
    const names = Array.from({ length: 50 }, (_, index) => `name_${index}`).join(" ");
    expect(extractKeywords([user(pasted), user(names)])).toHaveLength(20);
    expect(extractKeywords([user("a".repeat(100_000)), user("-".repeat(100_000))])).toEqual([]);
  });

  test("finds nothing in plain words, in any language", () => {
    expect(extractKeywords([user("Please fix it. Bitte. 直してください。")])).toEqual([]);
  });
});

describe("a summary that is used", () => {
  const messages = [user("Fix loadConfig in a/config.ts, and max_depth."), ...edited("b/merge.ts")];

  test("is compared with the names in the conversation, in any case", () => {
    expect(assessSummary({ summary: "LOADCONFIG of config.ts; merge.ts" }, messages)).toEqual({
      characters: 33,
      isLong: false,
      keywords: ["merge.ts", "loadConfig", "config.ts", "max_depth"],
      missingKeywords: ["max_depth"],
    });
  });

  test("gets a warning when it mentions less than a quarter of them", () => {
    const [warning, ...others] = summaryWarnings(assessSummary({ summary: GOOD_SUMMARY }, messages));
    expect(others).toEqual([]);
    expect(warning).toEqual({
      type: "notice",
      level: "warning",
      code: "summary_content",
      message:
        "The summary mentions 0 of 4 names from the conversation (missing: merge.ts, loadConfig, config.ts, …). Read it before you rely on it.",
    });
    expect(summaryWarnings(assessSummary({ summary: `${GOOD_SUMMARY} max_depth` }, messages))).toEqual([]);
  });

  test("gets no such warning where the conversation names next to nothing, or a program made it", () => {
    expect(summaryWarnings(assessSummary({ summary: GOOD_SUMMARY }, [user("a_b c_d e_f")]))).toEqual([]);
    expect(summaryWarnings(assessSummary({ summary: GOOD_SUMMARY, failure: "no answer" }, messages))).toEqual(
      [],
    );
  });

  test.each([
    [8_000, []],
    [8_001, ["summary_long"]],
  ])("of %d characters gets the warnings %j", (length, codes) => {
    for (const failure of [undefined, "no answer"]) {
      const warnings = summaryWarnings(assessSummary({ summary: "x".repeat(length), failure }, []));
      expect(warnings.flatMap((event) => (event.type === "notice" ? [event.code] : []))).toEqual(codes);
    }
  });
});
