import {
  formatHostAndPort,
  type HostAndPort,
  matchesHostPattern,
  parseHostPattern,
  toHostPatternText,
} from "../infrastructure/network/host-pattern.ts";
import type { ApprovalRequest } from "../tool/types.ts";
import { type Grant, isGranted } from "./grants.ts";
import { isEverything } from "./policy.ts";
import {
  type ApprovalContext,
  type ApprovalVerdict,
  allow,
  ask,
  deny,
  type PermissionRule,
  verdictOf,
} from "./types.ts";

/** Decides about a host that a command wants to reach and that no list of allowed hosts names. */
export function evaluateHost(
  { details = {} }: ApprovalRequest,
  { rules = [], grants = [] }: ApprovalContext,
): ApprovalVerdict {
  const { host, port } = details;
  if (typeof host !== "string" || typeof port !== "number")
    return deny("network", "it does not name the host that it connects to");
  const wanted = { host, port };
  const rule = rules.findLast((each) => each.permission === "fetch" && matchesHost(each, wanted));
  if (rule?.action === "deny") return verdictOf(rule);
  const grant: Grant = { kind: "host", pattern: toHostPatternText(wanted) };
  if (isGranted(grant, grants)) return allow("grant", "you have always allowed this host");
  const verdict = rule
    ? verdictOf(rule)
    : ask("network", `${formatHostAndPort(wanted)} is not among the hosts that commands may reach`);
  return verdict.action === "ask" ? { ...verdict, grants: [grant] } : verdict;
}

/** A rule that allows names a host as a list of hosts does; others apply to every port of it. */
function matchesHost({ pattern: text, action }: PermissionRule, { host, port }: HostAndPort): boolean {
  if (isEverything(text)) return true;
  const pattern = parseHostPattern(text);
  if ("problem" in pattern) return false;
  if (action === "allow" || pattern.port !== undefined) return matchesHostPattern(pattern, { host, port });
  return matchesHostPattern({ ...pattern, port }, { host, port });
}
