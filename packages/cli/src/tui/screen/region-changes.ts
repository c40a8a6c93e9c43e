/** A run of lines that is replaced by another, either of which may be empty. */
export interface RegionChange {
  readonly shownStart: number;
  readonly shownCount: number;
  readonly wantedStart: number;
  readonly wantedCount: number;
}

/** Moving lines costs two sequences of about ten bytes each, with the way there. */
const WORTH_MOVING_BYTES = 24;

/**
 * What has to change so that the lines `shown` become the lines `wanted`; everything between stays as it is, and moves
 * up or down where the counts of a change differ. Not the fewest changes possible, but few, and never a change for the
 * sake of some blank lines.
 */
export function findChanges(shown: readonly string[], wanted: readonly string[]): RegionChange[] {
  const all = { shownStart: 0, shownCount: shown.length, wantedStart: 0, wantedCount: wanted.length };
  return splitRange(shown, wanted, all).flatMap((change) => pairLines(shown, wanted, change));
}

function splitRange(
  shown: readonly string[],
  wanted: readonly string[],
  range: RegionChange,
): RegionChange[] {
  const change = trimEqual(shown, wanted, range);
  if (change.shownCount === 0 && change.wantedCount === 0) return [];
  const block = findBlock(shown, wanted, change);
  if (block.bytes < WORTH_MOVING_BYTES) return [change];
  const above = {
    ...change,
    shownCount: block.shownStart - change.shownStart,
    wantedCount: block.wantedStart - change.wantedStart,
  };
  const below = rangeBetween(
    { shown: block.shownStart + block.count, wanted: block.wantedStart + block.count },
    { shown: change.shownStart + change.shownCount, wanted: change.wantedStart + change.wantedCount },
  );
  return [...splitRange(shown, wanted, above), ...splitRange(shown, wanted, below)];
}

interface Place {
  shown: number;
  wanted: number;
}

function rangeBetween(start: Place, end: Place): RegionChange {
  return {
    shownStart: start.shown,
    shownCount: end.shown - start.shown,
    wantedStart: start.wanted,
    wantedCount: end.wanted - start.wanted,
  };
}

/** The range without the equal lines at its beginning and its end. */
function trimEqual(shown: readonly string[], wanted: readonly string[], range: RegionChange): RegionChange {
  const start = { shown: range.shownStart, wanted: range.wantedStart };
  const end = {
    shown: range.shownStart + range.shownCount,
    wanted: range.wantedStart + range.wantedCount,
  };
  const isOpen = () => start.shown < end.shown && start.wanted < end.wanted;
  for (; isOpen() && shown[start.shown] === wanted[start.wanted]; start.shown++) start.wanted++;
  for (; isOpen() && shown[end.shown - 1] === wanted[end.wanted - 1]; end.shown--) end.wanted--;
  return rangeBetween(start, end);
}

/** The equal run of lines in both that holds most bytes. */
function findBlock(shown: readonly string[], wanted: readonly string[], range: RegionChange) {
  const best = { bytes: 0, shownStart: 0, wantedStart: 0, count: 0 };
  // Length and bytes of the equal run that ends at each line of `shown` and the line of `wanted` above the present one.
  let above = new Map<number, { count: number; bytes: number }>();
  for (let wantedAt = range.wantedStart; wantedAt < range.wantedStart + range.wantedCount; wantedAt++) {
    const here = new Map<number, { count: number; bytes: number }>();
    for (let shownAt = range.shownStart; shownAt < range.shownStart + range.shownCount; shownAt++) {
      if (shown[shownAt] !== wanted[wantedAt]) continue;
      const before = above.get(shownAt - 1) ?? { count: 0, bytes: 0 };
      const run = { count: before.count + 1, bytes: before.bytes + (wanted[wantedAt]?.length ?? 0) };
      here.set(shownAt, run);
      if (run.bytes <= best.bytes) continue;
      const { count, bytes } = run;
      Object.assign(best, {
        bytes,
        count,
        shownStart: shownAt - count + 1,
        wantedStart: wantedAt - count + 1,
      });
    }
    above = here;
  }
  return best;
}

/**
 * Divides a change into lines that are replaced by as many others, and one run that is added or removed, between those
 * lines where it leaves the least to write: the last line of a growing text is to be that line still, and the line with
 * the clock below it too.
 */
function pairLines(
  shown: readonly string[],
  wanted: readonly string[],
  change: RegionChange,
): RegionChange[] {
  const { shownStart, wantedStart } = change;
  const paired = Math.min(change.shownCount, change.wantedCount);
  const added = change.wantedCount - change.shownCount;
  if (added === 0 || paired === 0) return [change];
  const costOf = (shownAt: number, wantedAt: number) =>
    countDifferent(shown[shownStart + shownAt] ?? "", wanted[wantedStart + wantedAt] ?? "");
  const shownShift = Math.max(0, -added);
  const wantedShift = Math.max(0, added);
  let cost = 0;
  let best = { above: 0, cost };
  for (let above = 1; above <= paired; above++) {
    const at = above - 1;
    // One more line that is paired above the run is one fewer below it, and the line beside it is the other.
    cost += costOf(at, at) - costOf(at + shownShift, at + wantedShift);
    cost +=
      wantedShift > 0
        ? lengthAt(wanted, wantedStart + at + wantedShift) - lengthAt(wanted, wantedStart + at)
        : 0;
    if (cost <= best.cost) best = { above, cost };
  }
  const runEnd = { shown: best.above + shownShift, wanted: best.above + wantedShift };
  return [
    { shownStart, shownCount: best.above, wantedStart, wantedCount: best.above },
    {
      shownStart: shownStart + best.above,
      shownCount: shownShift,
      wantedStart: wantedStart + best.above,
      wantedCount: wantedShift,
    },
    {
      shownStart: shownStart + runEnd.shown,
      shownCount: paired - best.above,
      wantedStart: wantedStart + runEnd.wanted,
      wantedCount: paired - best.above,
    },
  ].filter(({ shownCount, wantedCount }) => shownCount + wantedCount > 0);
}

function lengthAt(lines: readonly string[], index: number): number {
  return lines[index]?.length ?? 0;
}

/** How many characters of `wanted` differ from `shown`, between an equal beginning and an equal end. */
function countDifferent(shown: string, wanted: string): number {
  const length = Math.min(shown.length, wanted.length);
  let start = 0;
  while (start < length && shown[start] === wanted[start]) start++;
  let end = 0;
  while (end < length - start && shown.at(-1 - end) === wanted.at(-1 - end)) end++;
  return wanted.length - start - end;
}
