import type { ReadGrammar } from "../infrastructure/content/bash-grammar.ts";
import { findRealPath, isInside } from "../infrastructure/reading/real-path.ts";
import { type CommandReading, type Pipeline, readCommand, type SimpleCommand } from "./command-syntax.ts";
import { type Grant, isGranted } from "./grants.ts";
import { startLooking } from "./looks.ts";
import { findSurroundings } from "./path-dangers.ts";
import { type Judging, judgePath } from "./path-policy.ts";
import { findReadDenial, hasReadDenial } from "./read-denial.ts";
import { judgeReading, READS_ONLY, readSimpleCommand } from "./read-only-policy.ts";
import { toRuleCommand } from "./rule-command.ts";
import { findCommandRule } from "./rules.ts";
import type { LookingJudge } from "./search-policy.ts";
import { isSteering } from "./shell-builtins.ts";
import { showWord } from "./show-word.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";
import { allow, ask, strictest, verdictOf } from "./verdicts.ts";
import { findDestination, type Places, placesAfter, placesBefore, type Whereabouts } from "./whereabouts.ts";

/**
 * Decides about a command line. Every part of it has to be allowed by a rule, an earlier answer or as a program that
 * only reads; one part that a rule denies denies all of it. What is more than plain words, or changes what later words
 * mean, can be allowed by nothing but an answer to exactly this line.
 */
export function judgeCommand(
  line: string,
  context: ApprovalContext,
  readGrammar: ReadGrammar,
): ApprovalVerdict {
  const reading = readCommand(line, readGrammar);
  const directory = findRealPath(context.cwd, context.cwd) ?? context.cwd;
  const grant: Grant = { kind: "command_line", directory, text: line };
  const start = { ...context, cwd: directory };
  const judged = judgeParts(line, reading, {
    context: start,
    surroundings: findSurroundings(start),
    looks: startLooking(),
  });
  if (judged.verdict.action !== "ask") return judged.verdict;
  if (isGranted(grant, context.grants ?? [])) return GRANTED;
  return { ...judged.verdict, grants: judged.grants ?? [grant] };
}

const GRANTED = allow("grant", "you have allowed exactly this for good");

/** `grants` are those that would allow the line; undefined where only one for the whole line would. */
interface Judged {
  verdict: ApprovalVerdict;
  grants?: readonly Grant[] | undefined;
}

function judgeParts(line: string, reading: CommandReading, judging: LookingJudge): Judged {
  if (reading.kind === "opaque") {
    const verdict = ask("command_syntax", reading.obstacle);
    return { verdict: findDenial(line, reading.commands, judging) ?? verdict };
  }
  const commands = reading.pipelines.flatMap((pipeline) => pipeline.commands);
  const steering = commands.length > 1 ? commands.find((command) => isSteering(command, judging)) : undefined;
  if (steering) {
    const words = commands.map((command) => command.map(({ text }) => text));
    const verdict = ask(
      "shell_command",
      `${showWord(steering[0]?.text ?? "")} may change what the rest of the line means`,
    );
    return { verdict: findDenial(line, words, judging) ?? verdict };
  }
  const verdicts = judgePipelines(reading.pipelines, judging);
  const verdict = strictest(verdicts) ?? ask("shell_command", "it holds no command");
  const asking = verdicts.filter(({ action }) => action === "ask");
  const isComplete = asking.every(({ grants }) => grants !== undefined);
  return { verdict, grants: isComplete ? distinct(asking.flatMap(({ grants = [] }) => grants)) : undefined };
}

function distinct(grants: readonly Grant[]): Grant[] {
  return grants.filter((grant, index) => !isGranted(grant, grants.slice(0, index)));
}

/** What a rule forbids of a line that is not understood, or not part by part. */
function findDenial(
  line: string,
  commands: readonly string[][],
  judging: LookingJudge,
): ApprovalVerdict | undefined {
  const { context } = judging;
  for (const words of commands) {
    const command = toRuleCommand(words.map((text) => ({ text, isGlob: false })));
    const rule = findCommandRule(command, context.rules ?? []);
    if (rule?.action === "deny") return verdictOf(rule);
  }
  return findReadDenial([line.replaceAll("\\\n", ""), ...commands.flat()], [context.cwd], judging);
}

function judgePipelines(pipelines: readonly Pipeline[], judging: LookingJudge): ApprovalVerdict[] {
  const { cwd } = judging.context;
  const verdicts: ApprovalVerdict[] = [];
  let after: Whereabouts = { success: [cwd], failure: [] };
  let isUndisturbed = true;
  for (const pipeline of pipelines) {
    const places = placesBefore(pipeline.runs, after);
    // What can only run if something fails that is there is judged as if nothing had moved.
    const judged = places?.length === 0 ? [cwd] : places;
    for (const [index, command] of pipeline.commands.entries()) {
      const verdict = judgePart({ command, places: judged, isPiped: index > 0 }, judging);
      verdicts.push(verdict);
      isUndisturbed &&= verdict.gate === "read_only_command" || command[0]?.text === "cd";
    }
    after = placesAfter(pipeline, places, { after, isUndisturbed });
  }
  return verdicts;
}

interface Part {
  command: SimpleCommand;
  places: Places;
  /** True when another command's output comes in. */
  isPiped: boolean;
}

function judgePart(part: Part, judging: LookingJudge): ApprovalVerdict {
  const { command, places, isPiped } = part;
  const { context, surroundings } = judging;
  const rule = findCommandRule(toRuleCommand(command), context.rules ?? []);
  if (rule?.action === "deny") return verdictOf(rule);
  const denial = findPartDenial(part, judging);
  if (denial) return denial;
  // Who allowed a command meant it for this project, wherever a `cd` on the line leads.
  if (rule?.action === "allow" && isInProject(places, surroundings.root)) return verdictOf(rule);
  const verdict = rule?.action === "ask" ? verdictOf(rule) : judgeUnruled(part, judging);
  const [only, ...others] = places ?? [];
  // A pattern stands for other files tomorrow, and a shell that is piped into runs something else: such a part is only
  // granted with its whole line.
  const isFixed =
    only !== undefined && others.length === 0 && !isPiped && !command.some((word) => word.isGlob);
  if (verdict.action !== "ask" || !isFixed) return verdict;
  const grant: Grant = { kind: "command", directory: only, words: command.map(({ text }) => text) };
  return isGranted(grant, context.grants ?? []) ? GRANTED : { ...verdict, grants: [grant] };
}

function isInProject(places: Places, root: string): boolean {
  return places?.every((place) => isInside(place, root)) === true;
}

/** What a rule forbids to be read: by where the words lead, or for an unknown command by what they look like. */
function findPartDenial(part: Part, judging: LookingJudge): ApprovalVerdict | undefined {
  const { context } = judging;
  if (!hasReadDenial(context)) return undefined;
  const { command, places = [context.cwd], isPiped } = part;
  const isKnown = places.every((cwd) => {
    const reading = readSimpleCommand({ command, isPiped }, { ...judging, context: { ...context, cwd } });
    return reading !== undefined && "use" in reading;
  });
  const words = command.slice(1).map(({ text }) => text);
  if (!isKnown) return findReadDenial(words, places, judging);
  const verdict = judgeUnruled({ command, places, isPiped }, judging);
  return verdict.action === "deny" ? verdict : undefined;
}

function judgeUnruled({ command, places, isPiped }: Part, judging: LookingJudge): ApprovalVerdict {
  const { context } = judging;
  const name = command[0]?.text ?? "";
  if (places === undefined) return ask("shell_command", `where ${showWord(name)} would run cannot be told`);
  const verdicts = places.map((cwd) => {
    const there = { ...judging, context: { ...context, cwd } };
    return name === "cd"
      ? judgeDirectoryChange(command, there)
      : judgeReading({ command, isPiped, startsIn: context.cwd }, there);
  });
  return strictest(verdicts) ?? ask("shell_command", `${showWord(name)} may run nowhere`);
}

/** Decides about a `cd`: to a plain place inside the project, which is then where the next commands start. */
function judgeDirectoryChange(command: SimpleCommand, { context, surroundings }: Judging): ApprovalVerdict {
  const place = findDestination(command, context.cwd);
  if (place === undefined) return ask("shell_command", "where this cd leads cannot be told");
  const verdict = judgePath({ path: place, permission: "read", readsContent: false }, context, surroundings);
  return verdict.action === "allow" ? READS_ONLY : verdict;
}
