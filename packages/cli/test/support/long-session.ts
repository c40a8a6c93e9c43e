import { writeSession } from "./session-files.ts";
import type { TemporaryProject } from "./temporary-project.ts";

export const LONG_SESSION = "20260225103000-abcdef";

export interface LongSession {
  turns: number;
  charactersPerMessage: number;
  version?: number;
}

/**
 * Writes a session with alternating questions and answers into a project; returns the path of its file.
 * Message 3 begins with "answer 3:". Its usage is one token, as from a server that does not count.
 */
export function writeLongSession(place: TemporaryProject, model: string, session: LongSession): string {
  const { turns, charactersPerMessage, version = 2 } = session;
  const texts = Array.from({ length: turns * 2 }, (_, index) => {
    const begin = `${index % 2 === 0 ? "question" : "answer"} ${index}: `;
    return begin.padEnd(charactersPerMessage, "the lexer knows numbers, the parser does not; ");
  });
  return writeSession(place, {
    id: LONG_SESSION,
    modified: "2026-02-25T10:30:00.000Z",
    texts,
    model,
    version,
  });
}
