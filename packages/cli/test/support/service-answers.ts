import { block, messageEnd, messageStart, thinkingBlock } from "../../../core/test/support/answers.ts";

interface ServiceCall {
  id: string;
  name: string;
  input: Record<string, unknown>;
  /** The preceding thinking, with its signature. */
  thinking?: { text: string; signature: string };
}

/** The events of a Messages API answer that calls one tool. */
export function callAnswer({ id, name, input, thinking }: ServiceCall): Record<string, unknown>[] {
  const before = thinking ? thinkingBlock(0, thinking.text, thinking.signature) : [];
  const call = block(
    thinking ? 1 : 0,
    { type: "tool_use", id, name, input: {} },
    { type: "input_json_delta", partial_json: JSON.stringify(input) },
  );
  return [messageStart(), ...before, ...call, ...messageEnd("tool_use")];
}
