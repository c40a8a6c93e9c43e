import type { PermissionRule } from "../types.ts";
import { type RuleCall, type RuleValue, readRuleCalls } from "./rule-calls.ts";
import { type ForeignRule, strictestLast } from "./types.ts";

type Action = PermissionRule["action"];

const ACTIONS: Readonly<Record<string, Action>> = {
  allow: "allow",
  prompt: "ask",
  forbidden: "deny",
  deny: "deny",
};
// A rule with more alternatives is not written by hand.
const MAX_PATTERNS = 64;

/**
 * The rules of a Codex `.rules` file, of which the strictest decides. @throws SyntaxError for a file that is not
 * understood: a denial in it must not get lost.
 */
export function fromCodexRules(text: string): ForeignRule[] {
  return strictestLast(readRuleCalls(text).map(convert));
}

function convert(call: RuleCall): ForeignRule {
  switch (call.name) {
    case "prefix_rule":
      return convertPrefix(call);
    case "network_rule":
      return convertNetwork(call);
    case "host_executable":
      return {
        text: "host_executable",
        action: "allow",
        rules: [],
        remark: "No rule is needed: a denied program is denied here under every path.",
      };
    default:
      throw new SyntaxError(`line ${call.line}: there is no rule ${call.name}`);
  }
}

function readAction({ args, line }: RuleCall): Action {
  const action = ACTIONS[String(args.get("decision") ?? "allow")];
  if (action === undefined) throw new SyntaxError(`line ${line} has an unknown decision`);
  return action;
}

function convertPrefix(call: RuleCall): ForeignRule {
  const { args, line } = call;
  const action = readAction(call);
  const pattern = args.get("pattern");
  if (!Array.isArray(pattern) || pattern.length === 0) throw new SyntaxError(`line ${line} has no pattern`);
  const words = pattern.map((word) => toAlternatives(word, line));
  const text = `${action} ${words.map((each) => (each.length === 1 ? each[0] : `[${each.join(" ")}]`)).join(" ")}`;
  const count = words.reduce((product, each) => product * each.length, 1);
  if (count > MAX_PATTERNS) {
    if (action !== "allow") throw new SyntaxError(`line ${line} has too many alternatives`);
    return { text, action, rules: [], remark: "It has too many alternatives." };
  }
  const prefixes = words.reduce<string[]>(
    (starts, each) =>
      starts.flatMap((start) => each.map((word) => (start === "" ? word : `${start} ${word}`))),
    [""],
  );
  const isPlain = words.flat().every((word) => /^[^\s*?]+$/.test(word));
  if (action === "allow" && !isPlain)
    return { text, action, rules: [], remark: "A word of it would stand for more here than it does there." };
  // A rule that denies or asks also matches what begins with it.
  const patterns = action === "allow" ? prefixes.flatMap((prefix) => [prefix, `${prefix} *`]) : prefixes;
  return { text, action, rules: patterns.map((each) => ({ permission: "execute", pattern: each, action })) };
}

function toAlternatives(word: RuleValue, line: number): string[] {
  const words = Array.isArray(word) ? word : [word];
  const texts = words.filter((each) => typeof each === "string" && each !== "");
  if (texts.length === 0 || texts.length < words.length)
    throw new SyntaxError(`line ${line} has a pattern that is not made of words`);
  return texts.map(String);
}

/** Connections of commands. */
function convertNetwork(call: RuleCall): ForeignRule {
  const action = readAction(call);
  const host = call.args.get("host");
  if (typeof host !== "string" || !/^[\w.*-]+$/.test(host))
    throw new SyntaxError(`line ${call.line} has no host`);
  const text = `${action} network ${host}`;
  if (action !== "allow") return { text, action, rules: [{ permission: "fetch", pattern: host, action }] };
  const remark =
    "It would also allow pages that the model reads: answer when a command first wants this host.";
  return { text, action, rules: [], remark };
}
