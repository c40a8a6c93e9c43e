import { ListingRestorer, type LocatedDirectory } from "../../infrastructure/fs/listing-restorer.ts";
import { isBelowAny, lookAt } from "../../infrastructure/fs/seen-file.ts";
import { EarlierScan, type ProtectedFileChanges } from "./changes.ts";
import { scanEverywhere } from "./out-of-sight.ts";
import { describeListings, type ProtectedFileRemedies } from "./quarantine.ts";
import type { ProtectedFileScanner } from "./scan.ts";
import type { ProtectedFile, ProtectedFileScan } from "./types.ts";

/** What is done about changes; see `sweep`. */
interface SweepPolicy {
  /** Git directories that no command has been able to exchange. */
  heldGitDirectories: readonly string[];
  /** False where a directory that has become unlistable stays so. */
  mayReveal(directory: LocatedDirectory): boolean;
  /** What is new in known directories in which commands may still create files. */
  findAdded(): readonly string[];
  /** Of something that appeared, the outermost parts that have to go; `file` is undefined for what makes a repository. */
  findUnasked(path: string, file?: ProtectedFile): string[];
  /** Puts a link back, if it may. @returns a line for the model; undefined where nothing was to be done. */
  restoreLink(link: ProtectedFile): string | undefined;
}

// What is moved away or put back can show more. What makes files again and again is met with the next sweep.
const MAX_ROUNDS = 4;

/**
 * Compares the protected files with what there was before, and restores it.
 * @returns `scan`: the current state, without unapproved files. `restored`, `moved`: a line for the model for each thing that
 * was. `changes`: what the last comparison found. `lost`: protected files that may be anywhere.
 */
export function sweep(
  { scanner, remedies }: { scanner: ProtectedFileScanner; remedies: ProtectedFileRemedies },
  before: ProtectedFileScan,
  policy: SweepPolicy,
) {
  const earlier = new EarlierScan(before);
  const wasThere = ({ identity }: LocatedDirectory) => before.unlistable.has(identity);
  const restorer = new ListingRestorer((directory) => wasThere(directory) || !policy.mayReveal(directory));
  const [moved, restored, stuck] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (let round = 1; ; round += 1) {
    const scan = () => scanner.scan(earlier, restorer.reveal);
    const { after: found, lost } = scanEverywhere(scanner, before, scan);
    // What lost its listing again in this moment is opened with a later sweep.
    const after = withExpected(found, before, (one) => wasThere(one) || restorer.stuck.has(one.identity));
    const changes = earlier.findChanges(after, policy.heldGitDirectories);
    const unasked = [
      ...changes.planted.flatMap((path) => policy.findUnasked(path)),
      ...changes.appeared.flatMap((file) => policy.findUnasked(file.path, file)),
      ...policy.findAdded().flatMap((path) => policy.findUnasked(path)),
    ];
    for (const note of remedies.moveAway(unasked.filter((path) => !stuck.has(path)))) moved.add(note);
    for (const path of unasked) if (lookAt(path) !== undefined) stuck.add(path);
    // In what was not scanned they may still be.
    const back = (after.isComplete ? changes.lostLinks : []).filter((link) => {
      const note = policy.restoreLink(link);
      if (note !== undefined) restored.add(note);
      return note !== undefined;
    });
    const hasActed = back.length > 0 || unasked.some((path) => !stuck.has(path));
    if (hasActed && round < MAX_ROUNDS) continue;
    for (const line of describeListings(restorer, (path) => remedies.nameOf(path))) restored.add(line);
    const approved = toApproved(after, before, { changes, unasked, stuck, back });
    return { scan: approved, restored: [...restored], moved: [...moved], changes, lost };
  }
}

interface RoundOutcome {
  changes: ProtectedFileChanges;
  /** What has to go, and what of it is still there. */
  unasked: readonly string[];
  stuck: ReadonlySet<string>;
  /** Links that were restored just now. */
  back: readonly ProtectedFile[];
}

/** A scan as if nothing unapproved were there: in its place is what was there before, where that may come back. */
function toApproved(
  after: ProtectedFileScan,
  before: ProtectedFileScan,
  { changes, unasked, stuck, back }: RoundOutcome,
): ProtectedFileScan {
  const gone = new Set(unasked);
  const isLeft = (path: string) => !gone.has(path) && !isBelowAny(path, gone);
  const returns = new Set([...stuck, ...back.map(({ path }) => path)]);
  // With a link, what it leads to is not protected for a while.
  const isExpected = ({ path, isByName }: ProtectedFile) =>
    returns.has(path) || (!isByName && changes.lostLinks.length > 0);
  const expected = [...before.files].filter(([, file]) => isExpected(file));
  const stuckGit = before.gitDirectories.filter((path) => stuck.has(path));
  return {
    ...after,
    // What only a command's settings name is not to count with the next ones.
    named: before.named,
    signs: changes.planted.length > 0 ? before.signs : after.signs,
    files: new Map([...expected, ...[...after.files].filter(([path]) => isLeft(path))]),
    gitDirectories: [...after.gitDirectories.filter(isLeft), ...stuckGit],
  };
}

/**
 * A scan in which some directories could not be listed, but may be later: what was known is still to be expected there, or
 * wherever they have come to lie.
 * @param isHeld for the directories in which no command can have written; only these are taken for what was there.
 */
export function withExpected(
  scan: ProtectedFileScan,
  before: ProtectedFileScan,
  isHeld: (directory: LocatedDirectory) => boolean,
): ProtectedFileScan {
  const directories = [...scan.unlistable.values()];
  if (directories.every(isHeld)) return scan;
  return {
    ...scan,
    files: new Map([...before.files, ...scan.files]),
    gitDirectories: [...new Set([...scan.gitDirectories, ...before.gitDirectories])],
    signs: new Map([...before.signs, ...scan.signs]),
    unlistable: new Map(directories.filter(isHeld).map((directory) => [directory.identity, directory])),
  };
}
