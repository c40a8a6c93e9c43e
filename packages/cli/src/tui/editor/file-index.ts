import { listFiles } from "@diligent/core/interactive";
import { type Environment, now } from "@diligent/core/run";

/** Paths of files and directories below one directory; those of directories end with a slash. */
type PathList = readonly string[];

/** The source of the files, and the time limits. */
interface FileIndexOptions {
  /** Lists the files again. */
  list(signal: AbortSignal): Promise<readonly string[]>;
  /** Milliseconds of any clock. */
  now(): number;
  /** How long a listing continues when nobody waits for it; default: one second. */
  abandonedAfterMs?: number;
}

// Newer files do not matter to a user who is typing; listing 20,000 files takes a tenth of this.
const MAX_AGE_MS = 2_000;
// The next key usually arrives sooner and needs the same list.
const ABANDONED_AFTER_MS = 1_000;

/**
 * The files to choose from, listed on demand and at most every two seconds. Concurrent requests share one
 * listing, which is cancelled once nobody has waited for it for a second.
 */
export class FileIndex {
  private known: { paths: PathList; at: number } | undefined;
  private listing: { paths: Promise<PathList>; abort: AbortController } | undefined;
  private waiting = 0;

  constructor(private readonly options: FileIndexOptions) {}

  /** Empty if `signal` is aborted before the list is ready, or if the files cannot be listed. */
  async paths(signal: AbortSignal): Promise<PathList> {
    const { known } = this;
    if (known !== undefined && this.options.now() - known.at < MAX_AGE_MS) return known.paths;
    this.listing ??= this.start();
    this.waiting++;
    try {
      return await untilAborted(this.listing.paths, signal);
    } catch {
      // Without ripgrep, or in a deleted directory, there are no files to suggest.
      return [];
    } finally {
      this.waiting--;
      this.abandonLater();
    }
  }

  private start() {
    const abort = new AbortController();
    const paths = this.options.list(abort.signal).then(withDirectories);
    const listing = { paths, abort };
    void paths
      .then((listed) => {
        this.known = { paths: listed, at: this.options.now() };
      })
      // Its callers handle the error.
      .catch(() => undefined)
      .finally(() => {
        if (this.listing === listing) this.listing = undefined;
      });
    return listing;
  }

  private abandonLater(): void {
    const { listing } = this;
    if (this.waiting > 0 || listing === undefined) return;
    const timer = setTimeout(() => {
      if (this.waiting === 0 && this.listing === listing) listing.abort.abort();
    }, this.options.abandonedAfterMs ?? ABANDONED_AFTER_MS);
    timer.unref();
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function withDirectories(files: readonly string[]): PathList {
  const directories = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const directory = file.slice(0, end + 1);
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  }
  return [...directories, ...files];
}

// Ripgrep lists this many in a tenth of a second; in a longer list, fuzzy search is no longer useful.
const MAX_FILES = 20_000;

/** The files below a working directory, except hidden and ignored ones. All paths are absolute and real. */
export function createFileIndex({
  cwd,
  root,
  environment,
}: {
  cwd: string;
  root: string;
  environment: Environment;
}): FileIndex {
  return new FileIndex({
    list: (signal) => listFiles({ directory: cwd, root, environment, maxFiles: MAX_FILES, signal }),
    now,
  });
}
