/**
 * What the model is told of the box its commands run in: what it allows, and how to get beyond it. Short, since it stands
 * in every request.
 * @param mayLeave false where no command may ask to run outside.
 */
export function describeSandbox({ mayLeave }: { mayLeave: boolean }): string {
  const further = mayLeave
    ? "For more, such as packages or a push, pass outside_sandbox and a reason: the user is asked."
    : "Nothing runs outside it.";
  return [
    "# Sandbox",
    "",
    "bash runs sandboxed: commands write to the project and $TMPDIR (/tmp too) only, not to files that steer other " +
      `programs (.git/config, hooks, .env, CI: use write and edit); no network, no keys. ${further}`,
  ].join("\n");
}
