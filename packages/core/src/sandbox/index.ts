export { type SandboxOptions, SessionSandbox } from "./session-sandbox.ts";

/**
 * Describes the sandbox to the model: what it allows, and how to get beyond it. Short, since it is part of every
 * request. @param mayLeave false if no command may request to run outside.
 */
export function describeSandbox({ mayLeave }: { mayLeave: boolean }): string {
  const further = mayLeave
    ? "For more, such as packages or a push, pass outside_sandbox and a reason: the user is asked."
    : "Nothing runs outside it.";
  return [
    "# Sandbox",
    "",
    "bash runs sandboxed: commands write to the project and $TMPDIR (/tmp too) only, not to files that steer other " +
      `programs (.git/config, hooks, .env, CI: use write and edit); no network; secret files (.env, keys) are unreadable. ${further}`,
  ].join("\n");
}
