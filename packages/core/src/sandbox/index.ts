import { type NetworkSetting, PACKAGES_PRESET } from "../infrastructure/network/network-setting.ts";

export { type NetworkOptions, type SandboxOptions, SessionSandbox } from "./session-sandbox.ts";

/**
 * Describes the sandbox to the model: what it allows, and how to run a command outside it. It is short, since it is
 * part of every request.
 *
 * @param options.mayLeave false if no command may request to run outside.
 * @param options.network the hosts that commands reach.
 * @param options.sharesProcesses false if each command has its own processes and network.
 */
export function describeSandbox({
  mayLeave,
  sharesProcesses = true,
  network = "off",
}: {
  mayLeave: boolean;
  sharesProcesses?: boolean;
  network?: NetworkSetting;
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
      `programs (.git/config, hooks, .env, CI: use write and edit); ${describeNetwork(network)}; secret files (.env, keys) are unreadable. ` +
      `${shared} ${further}`,
  ].join("\n");
}

// A longer list of hosts would be part of every request; the refusal of another host says the same.
const MAX_NAMED_HOSTS = 8;

function describeNetwork(network: NetworkSetting): string {
  if (network === "off") return "no network";
  if (network === "on") return "network: public hosts on ports 80 and 443, through the proxy in http_proxy";
  const { allow } = network;
  const more = allow.length > MAX_NAMED_HOSTS ? ` and ${allow.length - MAX_NAMED_HOSTS} more` : "";
  const named = allow.map((entry) => (entry === PACKAGES_PRESET ? "package registries" : entry));
  const hosts = `${named.slice(0, MAX_NAMED_HOSTS).join(", ")}${more}`;
  return `network: ${hosts || "no host"} through the proxy in http_proxy, other hosts need the user's consent`;
}

const SEPARATE =
  "Each command, also in the background, has processes and a localhost of its own: use a server in the command that starts it.";
