import type { AskedVerdict } from "@diligent/core/harness";
import type { ApprovalRequest } from "@diligent/core/run";
import { escapeLine, escapeText, formatMark } from "./escaped-text.ts";

// Enough for everything that the shell tool quotes; the model's own reason is not part of the command.
const MAX_REASON_CHARS = 600;

const LOCATIONS = { in_sandbox: " in the sandbox", outside_sandbox: " outside the sandbox" } as const;

/**
 * The question, on one line: the sub-agent whose call it is, and where a command would run, come first. Nothing in it is
 * the model's own text.
 */
export function describeAsking(
  { toolName, agent }: ApprovalRequest,
  { action, gate, reason, runs, isEdited }: AskedVerdict,
): string {
  if (gate === "try") return `Apply what the command would change (${escapeLine(reason)})?`;
  const edited = isEdited ? " as edited" : "";
  const asker = agent ? `${escapeLine(agent.name)}: ` : "";
  const tool = `${asker}${escapeLine(toolName)}${runs ? LOCATIONS[runs] : ""}${edited}`;
  const why = escapeLine(reason);
  if (action === "allow") return `${tool} needs confirmation: ${why}`;
  if (runs === "outside_sandbox") return `Allow ${tool}? It would run with all your permissions`;
  return `Allow ${tool}? Reason: ${why}`;
}

/** Why the person's edited command was rejected; undefined if there was none. */
export function describeRefusedEdit({ refusedEdit }: AskedVerdict): string | undefined {
  if (refusedEdit === undefined) return undefined;
  return `Your edited command was rejected: ${escapeLine(refusedEdit.why)}`;
}

/** What the sub-agent works on, in the words of the model that has started it; undefined for a call of the session. */
export function describeTask({ agent }: ApprovalRequest): string | undefined {
  if (agent === undefined) return undefined;
  return `Task of the sub-agent (unverified): ${escapeLine(agent.description.slice(0, MAX_REASON_CHARS).toWellFormed())}`;
}

/** Heading for the text of `toEscapedRequest`. */
export const REASON_HEADING = "Model’s reason (unverified):";

/**
 * The model's reason for running a command outside the sandbox, on one line, in the quotation marks added by the tool;
 * undefined without a reason.
 */
export function toEscapedRequest({ details }: ApprovalRequest, { runs }: AskedVerdict): string | undefined {
  if (runs !== "outside_sandbox" || typeof details?.reason !== "string") return undefined;
  const wish = details.reason.trim();
  if (wish === "") return undefined;
  const shown = escapeLine(wish.slice(0, MAX_REASON_CHARS).toWellFormed());
  const left = wish.length - MAX_REASON_CHARS;
  return left > 0 ? shown + formatMark(`${left} more characters`) : shown;
}

/**
 * The host that a command wants to reach, and the command, or the address of a page; undefined for other requests. All
 * of an address is shown: it may carry data away.
 */
export function describeHostRequest({ permission, details = {} }: ApprovalRequest): string | undefined {
  const { host, port, command, url } = details;
  if (permission !== "fetch" || typeof host !== "string") return undefined;
  if (typeof url === "string") return escapeText(url);
  const place = `connect to ${escapeLine(`${host}:${port}`)}`;
  return typeof command === "string" ? `${place}\n\n${escapeText(command)}` : place;
}

/** What a command has changed in a view of the project, as lines and as a diff; undefined for other requests. */
export function readTriedChanges({
  details = {},
}: ApprovalRequest): { lines: readonly string[]; diff: readonly string[] } | undefined {
  const { tried, line, lines, diff } = details;
  if (typeof tried !== "string" || !Array.isArray(lines)) return undefined;
  const texts = [line, ...lines].filter((text) => typeof text === "string");
  return { lines: texts, diff: typeof diff === "string" && diff !== "" ? diff.trimEnd().split("\n") : [] };
}

/** The server's tool to be called, with its arguments; undefined for other requests. */
export function describeServerToolRequest({ permission, details = {} }: ApprovalRequest): string | undefined {
  const { server, tool } = details;
  if (permission !== "mcp" || typeof server !== "string" || typeof tool !== "string") return undefined;
  const call = `${escapeLine(tool)} of the server ${escapeLine(server)}`;
  const input = escapeText(JSON.stringify(details.arguments ?? {}, undefined, 2));
  return `${call}\n\n${input}`;
}

/** How a server's tool differs from what was allowed before, as a diff; undefined where it does not. */
export function toolChange({ permission, details = {} }: ApprovalRequest): string | undefined {
  return permission === "mcp" && typeof details.change === "string" ? details.change : undefined;
}

/** The paths to be read or changed, if the request is about them alone; otherwise none. */
export function requestedPaths({ permission, details = {} }: ApprovalRequest): string[] {
  if (permission === "execute" || permission === "mcp") return [];
  const files: unknown[] = Array.isArray(details.files) ? details.files : [details];
  return files.flatMap((file) => {
    const isNamed = typeof file === "object" && file !== null && "path" in file;
    return isNamed && typeof file.path === "string" ? [file.path] : [];
  });
}
