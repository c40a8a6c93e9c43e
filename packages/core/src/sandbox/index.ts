export { type SandboxOptions, SessionSandbox } from "./session-sandbox.ts";

/**
 * Describes the sandbox to the model: what it allows, and how to run a command outside it. It is short, since it is
 * part of every request.
 *
 * @param options.mayLeave false if no command may request to run outside.
 * @param options.sharesProcesses false if each command has its own processes and network.
 */
export function describeSandbox({
  mayLeave,
  sharesProcesses = true,
}: {
  mayLeave: boolean;
  sharesProcesses?: boolean;
}): string {
  const shared = sharesProcesses
    ? "All commands share one localhost and one process list, and with the file tools one /tmp."
    : SEPARATE;
  const further = mayLeave
    ? "For more, such as packages or a push, pass outside_sandbox and a reason: the user is asked."
    : "Nothing runs outside it.";
  return [
    "# Sandbox",
    "",
    "bash runs sandboxed: commands write to the project and $TMPDIR (/tmp too) only, not to files that steer other " +
      "programs (.git/config, hooks, .env, CI: use write and edit); no network; secret files (.env, keys) are unreadable. " +
      `${shared} ${further}`,
  ].join("\n");
}

const SEPARATE =
  "Each command, also in the background, has processes and a localhost of its own: use a server in the command that starts it.";
