import { now } from "../infrastructure/clock.ts";
import type { UserMessage } from "../types.ts";
import { flushSession, type OpenSession } from "./open-session.ts";
import type { SteeringQueue } from "./steering-queue.ts";

interface NotePlace extends Pick<OpenSession, "log" | "writer" | "gate"> {
  steering: SteeringQueue;
  isRunning(): boolean;
}

/**
 * Adds a message of the user's that asks for no answer. The model reads it with the next prompt; a run that is going on
 * takes it in before its next request, since between a call and its result no provider accepts one. Resolves once it is
 * in the session or in that queue, which may wait for another process that compacts the session.
 */
export function addNote(content: UserMessage["content"], place: NotePlace): Promise<void> {
  const { log, gate, steering, isRunning } = place;
  return new Promise((resolve) => {
    const add = () => {
      if (isRunning()) {
        steering.add(content, { isNote: true });
      } else {
        const message: UserMessage = { role: "user", content, timestamp: now() };
        log.append((entry) => ({ type: "message", ...entry, message }));
        flushSession(place);
      }
      resolve();
    };
    if (isRunning()) add();
    else gate.pass(add, {});
  });
}
