import type { TrafficWatcher } from "./connection.ts";

/**
 * For what several sessions share, such as servers: each of them receives it, those with the same watcher once.
 * @param sessions the open ones, at any time.
 */
export function shareTraffic(sessions: Iterable<{ traffic?: TrafficWatcher | undefined }>): TrafficWatcher {
  const report = (to: (watcher: TrafficWatcher) => void) => {
    for (const watcher of new Set([...sessions].map(({ traffic }) => traffic))) if (watcher) to(watcher);
  };
  return {
    add: (connection) => report((watcher) => watcher.add(connection)),
    watch: (connection, ended) => report((watcher) => watcher.watch(connection, ended)),
    addUnseen: (process) => report((watcher) => watcher.addUnseen(process)),
  };
}
