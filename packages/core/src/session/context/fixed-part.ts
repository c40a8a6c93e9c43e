import type { StreamContext } from "../../provider/types.ts";

/** The part of a request that is the same in all of them. */
export type FixedPart = Pick<StreamContext, "systemPrompt" | "tools">;

/** Its characters; the tools count as the JSON they are sent as. */
export function countFixedCharacters({ systemPrompt, tools }: FixedPart): number {
  return systemPrompt.length + (tools.length > 0 ? JSON.stringify(tools).length : 0);
}
