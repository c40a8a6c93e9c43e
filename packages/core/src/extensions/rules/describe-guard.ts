import type { CommandPattern, Guard, MessageFormat } from "./types.ts";

const MAX_COMMANDS = 6;
const MOMENTS = {
  end: "the end of a turn",
  commit: "git commit",
  push: "git push",
  pull_request: "a pull request",
} as const;

/** What the guards of a rule enforce, in a line. */
export function describeGuards(guards: readonly Guard[]): string {
  return guards.map(describeGuard).join("; ");
}

function describeGuard(guard: Guard): string {
  switch (guard.kind) {
    case "command":
      return `refuses ${listCommands(guard.refused)}`;
    case "path":
      return describePaths(guard.access, guard.patterns, guard.isAllowed === true);
    case "commit_message":
      return `commit messages: ${describeFormat(guard.format)}`;
    case "branch_name":
      return `new branches begin with ${guard.prefixes.join(" or ")}`;
    case "dependencies":
      return "refuses new dependencies";
    case "check":
      return `needs ${typeof guard.run === "string" ? guard.run : guard.run.join(" ")} before ${MOMENTS[guard.before]}`;
  }
}

function describePaths(
  access: "write" | "read" | "create",
  patterns: readonly string[],
  isAllowed: boolean,
): string {
  const paths = patterns.join(", ");
  if (isAllowed) return `refuses to change anything but ${paths}`;
  if (access === "read") return `refuses to read ${paths}`;
  return access === "create" ? `refuses to create ${paths}` : `refuses to change ${paths}`;
}

function listCommands(refused: readonly CommandPattern[]): string {
  const shown = refused.slice(0, MAX_COMMANDS).map(describeCommand);
  const more = refused.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function describeCommand({
  words,
  options = [],
  branches,
  unlessBehind,
  needsOperand,
}: CommandPattern): string {
  const command = [...words, ...(needsOperand ? ["…"] : [])].join(" ");
  return [
    command,
    ...(options.length === 0 ? [] : [options.join("|")]),
    ...(branches === undefined ? [] : [`(branch ${branches.join(", ")})`]),
    ...(unlessBehind === undefined ? [] : [`(not behind ${unlessBehind})`]),
  ]
    .filter((part) => part !== "")
    .join(" ");
}

/** What a message has to be like, as a clause. */
export function describeFormat(format: MessageFormat): string {
  const { isConventional, maxSubject, prefix, reference, without, hasNoEmoji, hasNoPeriod, isLowerCase } =
    format;
  return [
    ...(isConventional ? ["type(scope): description"] : []),
    ...(maxSubject === undefined ? [] : [`at most ${maxSubject} characters in the first line`]),
    ...(prefix === undefined ? [] : [`begin with ${prefix}`]),
    ...(reference === undefined
      ? []
      : [reference === "ticket" ? "name a ticket such as ABC-123" : "name an issue such as #123"]),
    ...(without === undefined
      ? []
      : [`without ${without.slice(0, 2).join(", ")}${without.length > 2 ? " and the like" : ""}`]),
    ...(hasNoEmoji ? ["without emoji"] : []),
    ...(hasNoPeriod ? ["no period at the end of the first line"] : []),
    ...(isLowerCase ? ["the description in lower case"] : []),
  ].join(", ");
}
