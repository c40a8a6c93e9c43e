import { describe, expect, test } from "bun:test";
import { findClaims, findUnsupported } from "../../../src/extensions/evidence/claims.ts";
import type { CheckRecord } from "../../../src/extensions/evidence/types.ts";

const CLAIMS: readonly [string, string][] = [
  ["All tests pass.", "tests!"],
  ["All 12 tests pass, and the build succeeds.", "tests! build!"],
  ["I ran the tests; 214 passed.", "tests"],
  ["The test suite is green.", "tests!"],
  ["Tests: 5 passed, 0 failed", "tests"],
  ["The previously failing test now passes.", "tests"],
  ["It builds.", "build"],
  ["The project now compiles.", "build"],
  ["TypeScript compiles without errors.", "types"],
  ["`tsc` reports no errors and `eslint` is clean.", "types lint"],
  ["- ✅ lint clean", "lint"],
  ["I verified the change.", "any"],
  ["Verified by running the suite.", "any"],
  ["Everything works.", "any"],
  ["**All tests pass**", "tests!"],
  ["I updated the README and all tests pass.", "tests!"],
  ["All tests pass (I did not run lint).", "tests!"],
  ["I couldn't reproduce it at first, but all tests pass.", "tests!"],
  ["I added tests for the parser, and all tests pass.", "tests!"],
  ["- [x] All tests pass", "tests!"],
  ["The fix was tested.", "any"],
  ["The program compiles and runs.", "build"],
  ["The build of the app succeeds.", "build"],
];

const NO_CLAIMS = [
  "The tests should pass now.",
  "Do all tests pass?",
  "> All tests pass.",
  '"All tests pass" is what the old message said.',
  "```\nAll tests pass.\n```",
  "I could not run the tests.",
  "The tests were not run, so nothing is verified.",
  "Run `bun test` to verify that it works.",
  "If all tests pass, merge it.",
  "The sub-agent said that all tests pass.",
  "Next step: make sure that the tests pass.",
  "Added a test that passes when the input is empty.",
  "2 tests fail.",
  "I changed how the lexer reads numbers.",
  "Let me run the tests.",
  "Please check that the build succeeds.",
  "The email is verified before login.",
  "All inputs are validated before they are stored.",
  "Users are verified through OAuth.",
  "The code builds an index.",
  "It compiles the templates successfully.",
  "The build directory is clean.",
  "The tests now check that valid input passes.",
  "- [ ] All tests pass",
  "Run `bun test` and check that all tests pass.",
  "Then make all tests pass.",
  "The explorer found that all tests pass.",
  "Make sure that the build succeeds and all tests pass.",
  "3 tests pass, but 2 fail.",
  "According to the README, all tests pass.",
];

describe("a sentence of an answer", () => {
  test.each(CLAIMS)("claims a result: %p (%s)", (answer, expected) => {
    const claims = findClaims(answer).map(({ kind = "any", isWhole }) => `${kind}${isWhole ? "!" : ""}`);
    expect(claims.join(" ")).toBe(expected);
  });

  test.each(NO_CLAIMS)("claims nothing: %p", (answer) => expect(findClaims(answer)).toEqual([]));
});

describe("a claim is supported", () => {
  const green: CheckRecord = {
    name: "bun test",
    kind: "tests",
    command: "bun test",
    exitCode: 0,
    isStale: false,
  };
  const unsupported = (answer: string, ...checks: CheckRecord[]) =>
    findUnsupported(findClaims(answer), checks);
  const CASES: readonly [string, CheckRecord[], boolean][] = [
    ["by a green check", [{ ...green, passed: 12, failed: 0 }], true],
    ["by nothing", [], false],
    ["by a check that failed", [{ ...green, exitCode: 1 }], false],
    ["by one that counts failures, whatever its exit code", [{ ...green, failed: 1 }], false],
    ["by one before later edits", [{ ...green, isStale: true }], false],
    ["by a part, if it is about all", [{ ...green, part: "-t" }], false],
    ["by another kind", [{ ...green, kind: "lint" }], false],
    ["by one whose end is unknown", [{ ...green, exitCode: null }], false],
    ["by one with another number", [{ ...green, passed: 11 }], false],
  ];
  test.each(CASES)("%s", (_, checks, isSupported) => {
    expect(unsupported("All 12 tests pass.", ...checks)).toEqual(isSupported ? [] : ["All 12 tests pass."]);
  });

  test("by a part, if it is about that", () => {
    expect(unsupported("The new test passes.", { ...green, part: "-t" })).toEqual([]);
  });
});
