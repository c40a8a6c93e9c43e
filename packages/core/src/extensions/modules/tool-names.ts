/** The tools that a session may have without extensions, also those that only some sessions have. */
export const BUILT_IN_TOOLS: readonly string[] = [
  ...["bash", "read", "edit", "write", "glob", "grep", "ls", "apply_patch", "job_output", "job_kill"],
  ...["todo", "ask_user", "add_knowledge", "recall", "web_fetch", "web_search", "lsp", "skill", "task"],
  ...["tool_search", "mcp_call", "mcp_resource"],
];
