import { z } from "zod";
import { agentLoop } from "../../src/agent/loop.ts";
import type { AgentEvent, AgentLoopConfig } from "../../src/agent/types.ts";
import type { Script } from "../../src/provider/scripted/script.ts";
import { createScriptedStream, scriptedModel } from "../../src/provider/scripted.ts";
import type { Tool } from "../../src/tool/types.ts";
import type { Message, UserMessage } from "../../src/types.ts";

export function user(content: string): UserMessage {
  return { role: "user", content, timestamp: 1 };
}

export type TurnScript = Script["turns"][number];

export interface RunResult {
  events: AgentEvent[];
  added: Message[];
  end: Extract<AgentEvent, { type: "agent_end" }>;
  /** Every message in the order it was handed to `record`. */
  recorded: Message[];
}

/** Plays the turns against the real loop; the scripted provider refuses every invalid request. */
export async function runScript(
  turns: TurnScript[],
  config: Partial<AgentLoopConfig> & { onEvent?: (event: AgentEvent) => void } = {},
): Promise<RunResult> {
  const script: Script = { version: 1, turns };
  const { onEvent, ...loopConfig } = config;
  const events: AgentEvent[] = [];
  const recorded: Message[] = [];
  const stream = agentLoop([user("go")], {
    model: scriptedModel("test.json", script),
    systemPrompt: "Test.",
    tools: [noteTool()],
    streamFunction: createScriptedStream(script),
    record: (message) => recorded.push(message),
    now: () => 5,
    ...loopConfig,
  });
  const added = await stream.consume((event) => {
    events.push(event);
    onEvent?.(event);
  });
  const end = events.at(-1);
  if (end?.type !== "agent_end") throw new Error(`The last event is ${end?.type}.`);
  return { events, added, end, recorded };
}

/** A tool that takes `text`, waits `delayMs`, and answers with the text; what it was called with goes into `calls`. */
export function noteTool(
  options: { name?: string; readOnly?: boolean; delayMs?: number; calls?: string[] } = {},
): Tool {
  const { name = "note", readOnly = false, delayMs = 0, calls = [] } = options;
  const parameters = z.strictObject({ text: z.string() });
  return {
    name,
    description: "Notes a text.",
    parameters,
    readOnly,
    execute: async (args, { signal }) => {
      const { text } = parameters.parse(args);
      calls.push(`start ${text}`);
      if (delayMs > 0)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, delayMs);
          signal.addEventListener("abort", () => {
            clearTimeout(timer);
            resolve();
          });
        });
      if (signal.aborted) throw new Error("stopped");
      calls.push(`end ${text}`);
      return { output: `noted ${text}` };
    },
  };
}

/** The calls of one reply without a result, and the results without a call: both empty in a valid history. */
export function unpaired(messages: readonly Message[]): string[] {
  const open = new Set<string>();
  const problems: string[] = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const block of message.content) if (block.type === "tool_call") open.add(block.id);
    } else if (message.role === "tool_result" && !open.delete(message.toolCallId)) {
      problems.push(`result without a call: ${message.toolCallId}`);
    }
  }
  return [...problems, ...[...open].map((id) => `call without a result: ${id}`)];
}
