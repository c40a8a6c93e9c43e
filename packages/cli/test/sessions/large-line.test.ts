import { expect, test } from "bun:test";
import { readSessionFile } from "@diligent/core/sessions";
import { writeSession } from "../support/session-files.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const HUGE = "a line of a log\n".repeat(1_310_720);

test("a session with a line of 20 MB is opened completely", () => {
  const place = createTemporaryProject();
  const texts = ["before", HUGE, "behind", "the end"];
  const id = "20260101000000-aaaaaa";
  const path = writeSession(place, { id, modified: "2026-01-01T00:00:00.000Z", texts });
  const { entries, skippedLines } = readSessionFile(path);
  const said = entries.map((entry) => {
    if (entry.type !== "message") return entry.type;
    const { content } = entry.message.role === "tool_result" ? { content: "" } : entry.message;
    const [block] = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
    return block?.type === "text" ? block.text : block?.type;
  });
  // A failure would otherwise print all of it.
  expect([said.length, said[1] === HUGE, skippedLines]).toEqual([4, true, 0]);
  expect([said[0], said[2], said[3]]).toEqual(["before", "behind", "the end"]);
  place.remove();
});
