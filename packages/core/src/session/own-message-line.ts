import type { SessionEntry } from "./types.ts";

// How our own messages begin, which is all that a list needs of most of them; everything else is parsed.
const OWN_MESSAGE =
  /^\{"type":"message","id":"([^"]*)","parentId":(?:null|"[^"]*"),"timestamp":"([^"]*)","message":\{"role":"(user|assistant|tool_result)"/;
const OWN_PREFIX_LENGTH = 200;
const OWN_END = /,"timestamp":\d+\}\}$/;
const OWN_END_LENGTH = 40;
const PARENT = '"parentId":';

/** What the beginning of a message's line says. */
export interface OwnMessage extends Pick<SessionEntry, "id" | "timestamp"> {
  isUserMessage: boolean;
}

/** Reads the beginning of a line of a session file, without parsing it; undefined when it is no message written by us. */
export function readOwnMessage(text: string): OwnMessage | undefined {
  const match = OWN_MESSAGE.exec(text.slice(0, OWN_PREFIX_LENGTH));
  if (!match) return undefined;
  const [, id = "", timestamp = "", role] = match;
  return { id, timestamp, isUserMessage: role === "user" };
}

/** False for a message's line that was torn, zeroed or run together with another one: it is looked at more closely then. */
export function isWholeMessage(text: string): boolean {
  const isOne = text.indexOf(PARENT, text.indexOf(PARENT) + 1) < 0;
  return isOne && OWN_END.test(text.slice(-OWN_END_LENGTH)) && !text.includes("\0");
}
