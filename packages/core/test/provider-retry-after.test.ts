import { expect, test } from "bun:test";
import { parseRetryAfter } from "../src/provider/retry-after.ts";

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
])("%j asks for nothing", (headers) => {
  expect(parseRetryAfter(new Headers(headers), NOW_MS)).toBeUndefined();
});
