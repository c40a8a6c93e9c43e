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
  const rule = rules.findLast((each) => each.permission === "fetch" && matchesHost(each, wanted));
  if (rule?.action === "deny") return verdictOf(rule);
  if (isPage && isAddress(host) && !isPublicAddress(host)) {
    const isNamed = rule?.action === "allow" && !isEverything(rule.pattern);
    return isNamed ? verdictOf(rule) : deny("network", describePrivate(wanted));
  }
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
