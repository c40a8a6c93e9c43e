import { listFiles } from "@diligent/core/interactive";
import { type Environment, now } from "@diligent/core/run";

/** Paths of files and directories below one directory; those of directories end in a slash. */
type PathList = readonly string[];

/** Where the files come from, and for how long they are waited for. */
interface FileIndexOptions {
  /** Lists the files anew. */
  list(signal: AbortSignal): Promise<readonly string[]>;
  /** Milliseconds of any clock. */
  now(): number;
  /** How long a listing goes on that nobody waits for; a second when left out. */
  abandonedAfterMs?: number;
}

// Whoever writes on does not see a file that is younger; a listing of 20,000 files takes a tenth of it.
const MAX_AGE_MS = 2_000;
// The next key of somebody who types usually comes sooner, and wants the same list.
const ABANDONED_AFTER_MS = 1_000;

/**
 * The files to choose from, listed when they are asked for and not again within two seconds. All who ask meanwhile share
 * one listing; it is broken off once nobody has waited for it for a second.
 */
export class FileIndex {
  private known: { paths: PathList; at: number } | undefined;
  private listing: { paths: Promise<PathList>; abort: AbortController } | undefined;
  private waiting = 0;

  constructor(private readonly options: FileIndexOptions) {}

  /** Empty when `signal` is aborted before they are there, and where they cannot be listed. */
  async paths(signal: AbortSignal): Promise<PathList> {
    const { known } = this;
    if (known !== undefined && this.options.now() - known.at < MAX_AGE_MS) return known.paths;
    this.listing ??= this.start();
    this.waiting++;
    try {
      return await untilAborted(this.listing.paths, signal);
    } catch {
      // Without ripgrep, or in a directory that is gone, there is nothing to offer.
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
      // Whoever waits for it deals with it.
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

// Ripgrep lists them in a tenth of a second; beyond them a search by fuzzy name finds nothing any more.
const MAX_FILES = 20_000;

/** The files below a working directory, but for hidden and ignored ones. All paths absolute and real. */
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
