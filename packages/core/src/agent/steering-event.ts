import { promptText, type UserMessage } from "../types.ts";
import type { AgentEvent, SteeredMessage } from "./types.ts";

/** What tells that a message has joined the conversation. */
export function toSteeringEvent(steered: UserMessage | SteeredMessage): AgentEvent {
  if ("role" in steered) return { type: "steering", text: promptText(steered) };
  const { message, id, isNote } = steered;
  return { type: "steering", text: promptText(message), id, ...(isNote && { isNote }) };
}
