import type { OfferedChoice } from "../tool/types.ts";
import { listCoveredCommands } from "./bash/command-scope.ts";
import { describeGrant, type Grant, isGranted, joinWords } from "./grants.ts";
import type { ApprovalVerdict, WidenableGrant } from "./types.ts";

type GrantReach = OfferedChoice["reach"];

/** One scope that "always" can have. A line of several commands has a grant for each. */
export interface GrantChoice extends OfferedChoice {
  grants: readonly Grant[];
}

/** The choices for the grants of a question, the exact one first; wider ones for those that are `widenable`. */
export function toGrantChoices({
  grants = [],
  widenable = [],
}: Pick<ApprovalVerdict, "grants" | "widenable">): GrantChoice[] {
  if (grants.length === 0) return [];
  const exact: GrantChoice = {
    reach: "exact",
    grants,
    allows: grants.map(describeGrant),
    examples: listExactExamples(grants),
  };
  const wider = (["prefix", "program"] as const).flatMap((reach): GrantChoice[] => {
    const widened = grants.map((grant) => widen(grant, reach, widenable));
    if (!widened.some((each) => each.reach === reach)) return [];
    const wide = widened
      .map(({ grant }) => grant)
      .filter((grant, index, all) => !isGranted(grant, all.slice(0, index)));
    const examples = interleave(widened.map((each) => each.examples.map(joinWords)));
    return [
      { reach, grants: wide, allows: wide.map(describeGrant), examples: examples.slice(0, MAX_EXAMPLES) },
    ];
  });
  return [exact, ...wider];
}

const MAX_EXAMPLES = 3;

/** The grant with the wanted reach, or with the next smaller one that exists for its command. */
function widen(
  grant: Grant,
  wanted: GrantReach,
  widenable: readonly WidenableGrant[],
): { grant: Grant; reach: GrantReach; examples: (readonly string[])[] } {
  const scopes = widenable.find((each) => isGranted(each.grant, [grant]));
  const reach =
    ORDER.slice(ORDER.indexOf(wanted)).find((each) => each === "exact" || scopes?.[each]) ?? "exact";
  const words = reach === "exact" ? undefined : scopes?.[reach];
  if (grant.kind !== "command" || words === undefined) return { grant, reach: "exact", examples: [] };
  const { directory, boxed } = grant;
  const wider: Grant = { kind: "command_prefix", directory, words, ...(boxed && { boxed }) };
  return { grant: wider, reach, examples: listCoveredCommands(words, grant.words) };
}

const ORDER: readonly GrantReach[] = ["program", "prefix", "exact"];

/** Takes from each list in turn, so that each command of a line is represented. */
function interleave(lists: readonly (readonly string[])[]): string[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  const all = Array.from({ length: longest }, (_, index) =>
    lists.flatMap((list) => list.slice(index, index + 1)),
  );
  return [...new Set(all.flat())];
}

/** A command that is granted by its words is also granted as a part of other plain lines. */
function listExactExamples(grants: readonly Grant[]): string[] {
  const texts = grants.flatMap((grant) => (grant.kind === "command" ? [joinWords(grant.words)] : []));
  const [first] = texts;
  if (first === undefined) return [];
  return [...texts, `${first} | tail -5`, `ls; ${first}`].slice(0, MAX_EXAMPLES);
}
