import type { Message, OpaqueBlock } from "../types.ts";
import { asRecord, asString } from "./json-value.ts";
import { OPENAI } from "./openai-replay.ts";

/**
 * The opaque items that cannot go back: half ones; calls that wait for an output of ours, which no tool of ours gives;
 * and outputs without their call. What the provider ran itself stays.
 */
export function findUnansweredItems(messages: readonly Message[]): ReadonlySet<OpaqueBlock> {
  const blocks = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  const items = blocks
    .filter((block) => block.type === "opaque")
    .filter(({ provider }) => provider === OPENAI);
  const calls = new Set(items.map(calledIdOf));
  const outputs = new Set(items.map(answeredIdOf));
  const unanswered = items.filter((item) => {
    const { status } = asRecord(item.raw);
    if (status === "in_progress" || status === "incomplete") return true;
    const [called, answered] = [calledIdOf(item), answeredIdOf(item)];
    return (called !== undefined && !outputs.has(called)) || (answered !== undefined && !calls.has(answered));
  });
  return new Set(unanswered);
}

/** The id under which an output is waited for, as for `local_shell_call` and `mcp_approval_request`. */
function calledIdOf({ raw }: OpaqueBlock): string | undefined {
  const { type, call_id, id } = asRecord(raw);
  if (type === "mcp_approval_request") return asString(id);
  return asString(type).endsWith("_call") ? asString(call_id) || undefined : undefined;
}

function answeredIdOf({ raw }: OpaqueBlock): string | undefined {
  const { type, call_id, approval_request_id } = asRecord(raw);
  if (type === "mcp_approval_response") return asString(approval_request_id);
  return asString(type).endsWith("_output") ? asString(call_id) : undefined;
}
