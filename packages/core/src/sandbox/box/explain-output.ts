import type { PrivateTemporary } from "./private-temporary.ts";

/** How a rule of the box shows in what programs say. The first that is met counts. */
const SIGNS: readonly { pattern: RegExp; rule: "write" | "network" | "privilege" }[] = [
  {
    pattern: /Read-only file system|\bEROFS\b|read-only filesystem|Device or resource busy|\bEBUSY\b/i,
    rule: "write",
  },
  {
    pattern:
      /Network is unreachable|\bENETUNREACH\b|Could not resolve host|Temporary failure in name resolution|\bEAI_AGAIN\b|\bENOTFOUND\b|Name or service not known|nodename nor servname|unable to resolve host|Failed to resolve|Cannot assign requested address|No address associated|network is down|Operation not permitted.*(?:socket|connect)|Could(?: not|n't) connect|Failed to connect|Connection refused|\bECONNREFUSED\b/i,
    rule: "network",
  },
  {
    pattern: /no new privileges|effective uid is not 0|must be setuid root|gpg failed to sign/i,
    rule: "privilege",
  },
];

/** What a rule says, and how to get beyond it; undefined where the output shows no sign of one. */
export function explainOutput(
  output: string,
  { mayLeave, temporary }: { mayLeave: boolean; temporary: PrivateTemporary | undefined },
): string | undefined {
  const rule = SIGNS.find(({ pattern }) => pattern.test(output))?.rule;
  if (rule === undefined) return undefined;
  const further = mayLeave
    ? "If it needs more, call bash again with outside_sandbox and a reason; the user is asked"
    : "The user's settings let no command run outside the sandbox";
  return `it ran in a sandbox: ${describeRule(rule, temporary)}. ${further}`;
}

function describeRule(rule: (typeof SIGNS)[number]["rule"], temporary: PrivateTemporary | undefined): string {
  switch (rule) {
    case "write":
      return `only the project and ${temporary?.files ?? "/tmp"} can be written to, without what steers other programs (.git/config, .git/hooks, .env, CLAUDE.md, CI files and the like)`;
    case "network":
      return "there is no network, nor a service of this machine";
    case "privilege":
      return "nothing gets more rights, and keys cannot be used";
  }
}
