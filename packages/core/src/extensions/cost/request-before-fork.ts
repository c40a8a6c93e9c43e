import { dirname, join } from "node:path";
import { readSessionFile } from "../../session/read-file.ts";
import type { RequestEntry, SessionEntry, SessionHeader } from "../../session/types.ts";

/** The last request of the conversation that a fork has copied, and the fork's entries since. */
interface RequestBeforeFork {
  request: RequestEntry;
  /** The number of the fork's entries that the request has sent. */
  entries: number;
}

/**
 * Looks for it in the session that was forked and, as forks of forks may have made no request, in those before it. A
 * fork copies no requests, which would count twice. Undefined if there is none or its file cannot be read.
 * @param path the fork's file; the others are beside it.
 */
export function findRequestBeforeFork(
  header: Pick<SessionHeader, "id" | "parentSession">,
  entries: readonly SessionEntry[],
  path: string,
): RequestBeforeFork | undefined {
  const positions = new Map<string | null, number>(entries.map(({ id }, index) => [id, index]));
  const seen = new Set([header.id]);
  for (let id = header.parentSession; id !== undefined && !seen.has(id); ) {
    seen.add(id);
    const parent = readQuietly(join(dirname(path), `${id}.jsonl`));
    const request = parent?.entries.findLast(
      (entry) => entry.type === "request" && entry.prefix !== undefined && positions.has(entry.parentId),
    );
    if (request?.type === "request") {
      return { request, entries: (positions.get(request.parentId) ?? 0) + 1 };
    }
    id = parent?.header.parentSession;
  }
  return undefined;
}

/** Without the other file, the request is only not explained. */
function readQuietly(path: string): ReturnType<typeof readSessionFile> | undefined {
  try {
    return readSessionFile(path);
  } catch {
    return undefined;
  }
}
