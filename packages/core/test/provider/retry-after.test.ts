import { describe, expect, test } from "bun:test";
import { parseRetryAfter, parseRetryHint } from "../../src/provider/retry-after.ts";

const NOW_MS = Date.parse("2026-11-02T10:00:00Z");

test.each([
  [{ "retry-after": "7" }, 7_000],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": " 1.5 " }, 1_500],
  [{ "retry-after": "Mon, 02 Nov 2026 10:00:30 GMT" }, 30_000],
  [{ "retry-after": "Mon, 02 Nov 2026 09:00:00 GMT" }, 0],
  [{ "retry-after-ms": "250" }, 250],
  [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
  [{ "retry-after-ms": "soon", "retry-after": "7" }, 7_000],
])("%j means %d ms", (headers, expected) => {
  expect(parseRetryAfter(new Headers(headers), NOW_MS)).toBe(expected);
});

test.each([
  [{}],
  [{ "retry-after": "" }],
  [{ "retry-after": "-5" }],
  [{ "retry-after": "soon" }],
  [{ "retry-after": "1e3" }],
  [{ "retry-after": "Infinity" }],
  [{ "retry-after": "9".repeat(400) }],
  [{ "retry-after": "2026" + "x" }],
  [{ "retry-after-ms": "-1" }],
])("%j asks for no delay", (headers) => {
  expect(parseRetryAfter(new Headers(headers), NOW_MS)).toBeUndefined();
});

describe("parseRetryHint", () => {
  test.each([
    ["Rate limit reached. Please try again in 11.054s. Visit https://x.example", 11_054],
    ["Please try again in 20ms.", 20],
    ["Please try again in 1m2.5s.", 62_500],
    ["please TRY AGAIN IN 2h3m", 7_380_000],
    ["Please try again in 7.66s", 7_660],
    ["Please try again in 6m0s.", 360_000],
    ["Please try again later.", undefined],
    ["try again in a few minutes", undefined],
    ["try again in 5 apples", undefined],
  ])("%s is %p ms", (text, expected) => {
    expect(parseRetryHint(text)).toBe(expected);
  });
});
