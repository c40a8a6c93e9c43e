import { expect, test } from "bun:test";
import type { SessionEntry } from "@diligent/core/run";
import { describeMasked } from "../../src/session/masked-secrets.ts";

const ISSUED = "[secret github-token 3f9a2c71]";
const NAMED = "[secret value 0b1c2d3e]";

const PROMPT: SessionEntry = {
  type: "message",
  id: "00000001",
  parentId: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: `Is ${ISSUED} right? A file says ${NAMED}.`, timestamp: 1 },
};

test("describeMasked() lists the placeholders that stand for something, and none that is only text", () => {
  const lines = describeMasked([PROMPT], { isIssued: (placeholder) => placeholder === ISSUED });
  expect(lines.slice(0, 4)).toEqual(["Masked in this conversation", "", ISSUED, "  your prompt"]);
  expect(lines.join("\n")).not.toContain(NAMED);
  expect(describeMasked([PROMPT], { isIssued: () => false })).toEqual([
    "Nothing was masked in this conversation.",
  ]);
});
