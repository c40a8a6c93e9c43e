import { isAddress, isPublicAddress } from "../infrastructure/network/addresses.ts";
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

/**
 * Decides about a host that a command wants to reach and that no list of allowed hosts names, or from which the model
 * wants to read a page. A page at a private address needs a rule for that address.
 */
export function evaluateHost(
  { details = {} }: ApprovalRequest,
  { rules = [], grants = [] }: ApprovalContext,
): ApprovalVerdict {
  const { host, port, url } = details;
  const isPage = url !== undefined;
  if (typeof host !== "string" || typeof port !== "number")
    return deny("network", "it does not name the host that it connects to");
  const wanted = { host, port };
  const rule = findHostRule(rules, wanted);
  if (rule?.action === "deny") return verdictOf(rule);
  if (isPage && isAddress(host) && !isPublicAddress(host))
    return rule && namesHost(rule) ? verdictOf(rule) : deny("network", describePrivate(wanted));
  const pattern = toHostPatternText(wanted);
  const grant: Grant = { kind: "host", pattern, ...(isPage && { tool: "web_fetch" as const }) };
  if (isGranted(grant, grants)) return allow("grant", "you have always allowed this host");
  const place = formatHostAndPort(wanted);
  const reason = isPage
    ? `no rule and no earlier answer allows pages of ${place}`
    : `${place} is not among the hosts that commands may reach`;
  const verdict = rule ? verdictOf(rule) : ask("network", reason);
  return verdict.action === "ask" ? { ...verdict, grants: [grant] } : verdict;
}

/** True if a rule allows pages at a private address: one that names it. */
export function allowsPrivatePage(rules: readonly PermissionRule[], wanted: HostAndPort): boolean {
  const rule = findHostRule(rules, wanted);
  return rule !== undefined && namesHost(rule);
}

function findHostRule(rules: readonly PermissionRule[], wanted: HostAndPort): PermissionRule | undefined {
  return rules.findLast((rule) => rule.permission === "fetch" && matchesHost(rule, wanted));
}

function namesHost({ action, pattern }: PermissionRule): boolean {
  return action === "allow" && !isEverything(pattern);
}

function describePrivate(wanted: HostAndPort): string {
  const rule: PermissionRule = { permission: "fetch", pattern: toHostPatternText(wanted), action: "allow" };
  return `${wanted.host} is not a public address; only the rule ${JSON.stringify(rule)} in permissions allows it`;
}

/** A rule that allows names a host as a list of hosts does; others apply to every port of it. */
function matchesHost({ pattern: text, action }: PermissionRule, { host, port }: HostAndPort): boolean {
  if (isEverything(text)) return true;
  const pattern = parseHostPattern(text);
  if ("problem" in pattern) return false;
  if (action === "allow" || pattern.port !== undefined) return matchesHostPattern(pattern, { host, port });
  return matchesHostPattern({ ...pattern, port }, { host, port });
}
