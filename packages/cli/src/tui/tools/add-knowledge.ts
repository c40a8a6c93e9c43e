import type { ToolLook } from "./tool-look.ts";

/** `add_knowledge pattern: Tests run with bun test · saved`. */
export const addKnowledge: ToolLook = {
  title: (call) => `${call.text("type") ?? "?"}: ${call.text("content") ?? "?"}`,
  summary(call) {
    if (call.state !== "done") return undefined;
    return call.metadataText("knownAs") === undefined ? "saved" : "known already";
  },
};
