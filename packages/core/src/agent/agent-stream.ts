import { EventStream } from "../event-stream.ts";
import type { Message } from "../types.ts";
import type { AgentEvent } from "./types.ts";

/** The stream of one run: it ends with `agent_end`, and its result is the messages that were added. */
export function createAgentStream(): EventStream<AgentEvent, Message[]> {
  return new EventStream(
    (event) => event.type === "agent_end",
    (event) => (event.type === "agent_end" ? event.messages : []),
  );
}
