import type { ApprovalRequest } from "../tool/types.ts";
import { showWord } from "./bash/parse.ts";
import { type Grant, isGranted } from "./grants.ts";
import { matchesText } from "./rules.ts";
import { type ApprovalContext, type ApprovalVerdict, allow, ask, deny, verdictOf } from "./types.ts";

/** Decides about a call of an MCP server's tool; `details` are those of `ServerToolDetails`. */
export function evaluateServerTool(
  { details = {} }: ApprovalRequest,
  { rules = [], grants = [] }: ApprovalContext,
): ApprovalVerdict {
  const { server, tool, name, definition, change, isReading } = details;
  if (typeof server !== "string" || typeof tool !== "string" || typeof definition !== "string")
    return deny("mcp", "it does not name the server and its tool");
  const names = [`${server}__${tool}`, ...(typeof name === "string" ? [name] : [])];
  const rule = rules.findLast(
    ({ permission, pattern }) => permission === "mcp" && names.some((each) => matchesText(pattern, each)),
  );
  if (rule?.action === "deny") return verdictOf(rule);
  const grant: Grant = { kind: "mcp", server, tool, definition };
  const what = `${showWord(tool)} of the server ${showWord(server)}`;
  if (typeof change === "string")
    return { ...ask("mcp", `${what} has changed since it was allowed`), grants: [grant] };
  if (isGranted(grant, grants)) return allow("grant", `you have always allowed ${what}`);
  if (rule?.action === "allow") return verdictOf(rule);
  if (rule) return { ...verdictOf(rule), grants: [grant] };
  if (isReading === true) return allow("mcp", `${what} only reads, and you trust this server`);
  return { ...ask("mcp", `${what} may do more than read`), grants: [grant] };
}
