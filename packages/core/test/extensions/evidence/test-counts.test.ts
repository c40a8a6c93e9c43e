import { expect, test } from "bun:test";
import { readTestCounts } from "../../../src/extensions/evidence/test-counts.ts";

const OUTPUTS: readonly [string, string, number, number][] = [
  ["bun", " 12 pass\n 1 fail\n 30 expect() calls\nRan 13 tests", 12, 1],
  ["bun with skipped tests", " 12 pass\n 2 skip\n 0 fail\n", 12, 0],
  ["jest", "Tests:       1 failed, 2 passed, 3 total\nTime: 1s", 2, 1],
  [
    "jest with a suite that cannot be loaded",
    "Test Suites: 1 failed, 1 passed, 2 total\nTests:       5 passed, 5 total\n",
    5,
    1,
  ],
  [
    "vitest with a file that cannot be loaded",
    " Test Files  1 failed | 1 passed (2)\n      Tests  2 passed (2)\n",
    2,
    1,
  ],
  [
    "vitest with an unhandled error",
    " Test Files  1 passed (1)\n      Tests  2 passed (2)\n     Errors  1 error\n",
    2,
    1,
  ],
  ["node with a cancelled test", "# tests 4\n# pass 3\n# fail 0\n# cancelled 1\n", 3, 1],
  ["vitest", " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n", 2, 1],
  ["mocha", "  12 passing (3s)\n  1 failing\n", 12, 1],
  ["node", "# tests 4\n# pass 3\n# fail 1\n", 3, 1],
  ["deno", "ok | 3 passed | 0 failed (5ms)", 3, 0],
  ["pytest", "===== 1 failed, 3 passed in 0.12s =====", 3, 1],
  ["pytest, quiet", "3 passed in 0.12s", 3, 0],
  ["pytest with errors", "==== 3 passed, 2 errors in 0.12s ====", 3, 2],
  ["unittest", "Ran 3 tests in 0.001s\n\nFAILED (failures=1)", 2, 1],
  ["unittest, fine", "Ran 3 tests in 0.001s\n\nOK", 3, 0],
  ["cargo", "test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: FAILED. 1 passed; 2 failed;", 4, 2],
  ["go -v", "--- PASS: TestA (0.0s)\n--- FAIL: TestB (0.0s)\n", 1, 1],
  ["rspec", "3 examples, 1 failure", 2, 1],
  ["minitest", "5 runs, 9 assertions, 1 failures, 1 errors, 0 skips", 3, 2],
  ["phpunit", "OK (3 tests, 5 assertions)", 3, 0],
  ["phpunit with failures", "Tests: 3, Assertions: 5, Failures: 1.", 2, 1],
  ["dotnet", "Passed!  - Failed:     0, Passed:     3, Skipped: 0", 3, 0],
  ["maven", "[INFO] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1", 1, 1],
  ["ctest", "67% tests passed, 1 tests failed out of 3", 2, 1],
  ["playwright", "  1 failed\n    a.spec.ts:3\n  3 passed (2.1s)", 3, 1],
  ["colors", "\x1b[32m 12 pass\x1b[0m\r\n\x1b[2m 0 fail\x1b[0m\r\n", 12, 0],
];

test.each(OUTPUTS)("the closing lines of %s", (_, output, passed, failed) => {
  expect(readTestCounts(output)).toEqual({ passed, failed });
});

test.each(["", "no tests", "All tests pass", "12 passed the review\n", "0 failed"])(
  "nothing is counted in %p",
  (output) => expect(readTestCounts(output)).toBeUndefined(),
);

test("how many passed is unknown if it is a sum, and a part of the output is missing", () => {
  const cargo = "test result: ok. 3 passed; 0 failed; 0 ignored";
  expect(readTestCounts(cargo, true)).toEqual({ failed: 0 });
  expect(readTestCounts(`${"x".repeat(9_000)}\n${cargo}\n`)).toEqual({ failed: 0 });
  expect(readTestCounts(`${cargo}\nerror: test failed, to rerun pass`, true)).toEqual({ failed: 1 });
  expect(readTestCounts("--- PASS: TestA (0.0s)\nFAIL\nFAIL\tpkg\t0.01s\n", true)).toEqual({ failed: 1 });
  expect(readTestCounts("--- PASS: TestA (0.0s)\n", true)).toEqual({ failed: 0 });
  expect(readTestCounts(" 12 pass\n 0 fail\n", true)).toEqual({ passed: 12, failed: 0 });
});
