import { expect, test } from "bun:test";
import { describeCall, SessionUpdates } from "../../src/acp/updates.ts";

test("a rename by a language server is an edit, whose diff comes with its end; a question is a search", () => {
  const place = { cwd: "/p" };
  const rename = describeCall("lsp", { action: "rename", file_path: "a.ts", query: "total" }, place);
  expect(rename).toEqual({
    ...{ title: "lsp: a.ts", kind: "edit", locations: [{ path: "/p/a.ts" }], content: [] },
  });
  expect(describeCall("lsp", { action: "hover", file_path: "a.ts" }, place).kind).toBe("search");
  const updates = new SessionUpdates({ ...place, contextWindow: () => 1, textOf: () => undefined });
  const [end] = updates.toUpdates({
    ...{ type: "tool_end", itemId: "i", toolCallId: "c", toolName: "lsp", isError: false },
    ...{ output: "Renamed to sum in 1 place.", metadata: { diff: "-total\n+sum\n" } },
  });
  expect(end).toMatchObject({
    content: [{ type: "content", content: { type: "text", text: "-total\n+sum\n" } }],
  });
});
