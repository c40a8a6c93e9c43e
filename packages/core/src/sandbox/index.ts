import { type NetworkSetting, PACKAGES_PRESET } from "../infrastructure/network/network-setting.ts";

export { type NetworkOptions, type SandboxOptions, SessionSandbox } from "./session-sandbox.ts";

/** What happens to a request that needs approval: the user is asked, it is refused, or it needs none. */
export type NeededAnswer = "asked" | "refused" | "granted";

/**
 * Describes the sandbox to the model: what it allows, and how to run a command outside it. It is short, since it is
 * part of every request.
 *
 * @param options.mayLeave false if no command may request to run outside.
 * @param options.network the hosts that commands reach.
 * @param options.sharesProcesses false if each command has its own processes and network.
 * @param options.answer what happens to a request to run outside, or to write a protected file.
 * @param options.canWrite false if the model has no tool that changes files.
 * @param options.asksForHosts false if nobody is asked about a host that the list does not name.
 */
export function describeSandbox({
  mayLeave,
  sharesProcesses = true,
  network = "off",
  answer = "asked",
  canWrite = true,
  asksForHosts = true,
}: {
  mayLeave: boolean;
  sharesProcesses?: boolean;
  network?: NetworkSetting;
  answer?: NeededAnswer;
  canWrite?: boolean;
  asksForHosts?: boolean;
}): string {
  const shared = sharesProcesses
    ? "All commands share one localhost and one process list, and with the file tools one /tmp."
    : SEPARATE;
  const further = mayLeave ? OUTSIDE[answer] : "Nothing runs outside it.";
  const other = canWrite && answer !== "refused" ? ": change them with the file tools" : "";
  const [closed, secrets] =
    answer === "granted"
      ? [".git/hooks and .diligent", "keys outside the project"]
      : [
          `files that steer other programs (.git/config, hooks, .env, CI${other})`,
          "secret files (.env, keys)",
        ];
  return [
    "# Sandbox",
    "",
    `bash runs sandboxed: commands write to the project and $TMPDIR (/tmp too) only, not to ${closed}; ` +
      `${describeNetwork(network, asksForHosts)}; ${secrets} are unreadable. ${shared} ${further}`,
  ].join("\n");
}

const OUTSIDE: Readonly<Record<NeededAnswer, string>> = {
  asked: "For more, such as packages or a push, pass outside_sandbox and a reason: the user is asked.",
  refused: "Nothing runs outside it unless a rule allows that.",
  granted: "For more, such as packages or a push, pass outside_sandbox: it needs no approval.",
};

// A longer list of hosts would be part of every request; the refusal of another host says the same.
const MAX_NAMED_HOSTS = 8;

function describeNetwork(network: NetworkSetting, asksForHosts: boolean): string {
  if (network === "off") return "no network";
  if (network === "on") return "network: public hosts on ports 80 and 443, through the proxy in http_proxy";
  const { allow } = network;
  const more = allow.length > MAX_NAMED_HOSTS ? ` and ${allow.length - MAX_NAMED_HOSTS} more` : "";
  const named = allow.map((entry) => (entry === PACKAGES_PRESET ? "package registries" : entry));
  const hosts = `${named.slice(0, MAX_NAMED_HOSTS).join(", ")}${more}`;
  const others = asksForHosts ? "other hosts need the user's consent" : "other hosts are refused";
  return `network: ${hosts || "no host"} through the proxy in http_proxy, ${others}`;
}

const SEPARATE =
  "Each command, also in the background, has processes and a localhost of its own: use a server in the command that starts it.";
