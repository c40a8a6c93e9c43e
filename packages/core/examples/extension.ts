import type { ExtensionModule } from "@diligent/core";

/** Name the path of such a file in `extensions` of your own diligent.jsonc. */
const extend: ExtensionModule = (harness) => {
  harness.registerTool({
    name: "count_words",
    description: "Counts the words of a text.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    // It changes nothing, so its calls need no approval.
    readOnly: true,
    execute: ({ text }) => `${String(text).split(/\s+/).filter(Boolean).length} words`,
  });
  harness.registerRenderer("count_words", {
    title: ({ input }) => String(input.text).slice(0, 20),
    summary: ({ output }) => output,
  });
  harness.registerCommand({
    name: "shout",
    description: "Repeats a text in capital letters",
    run: (text) => text.toUpperCase(),
  });
  // Asked before the approval policy is; a handler that fails refuses the call.
  harness.registerHook("call", ({ toolName, input }) =>
    toolName === "bash" && /\bgit push\b/.test(String(input.command))
      ? { refusal: "Nothing is pushed from this machine." }
      : undefined,
  );
};

export default extend;
