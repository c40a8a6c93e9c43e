/** A line of the old text, of the new one, or of both where one became the other. Indices from 0. */
export interface LinePair {
  oldIndex?: number;
  newIndex?: number;
}

// The table below has one cell for each pair of lines.
const MAX_CELLS = 250_000;

/**
 * Says which new line comes from which old line: equal lines first (a longest common subsequence), and between those
 * one after the other. Every line of both sides occurs once, in order.
 */
export function alignLines(oldLines: readonly string[], newLines: readonly string[]): LinePair[] {
  const pairs: LinePair[] = [];
  let [oldStart, newStart] = [0, 0];
  for (const [oldIndex, newIndex] of [
    ...findEqualLines(oldLines, newLines),
    [oldLines.length, newLines.length],
  ]) {
    if (oldIndex === undefined || newIndex === undefined) continue;
    pairs.push(...pairInOrder({ oldStart, oldEnd: oldIndex, newStart, newEnd: newIndex }));
    if (oldIndex < oldLines.length) pairs.push({ oldIndex, newIndex });
    [oldStart, newStart] = [oldIndex + 1, newIndex + 1];
  }
  return pairs;
}

interface Gap {
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
}

function pairInOrder({ oldStart, oldEnd, newStart, newEnd }: Gap): LinePair[] {
  const count = Math.max(oldEnd - oldStart, newEnd - newStart);
  return Array.from({ length: count }, (_, index) => ({
    ...(oldStart + index < oldEnd && { oldIndex: oldStart + index }),
    ...(newStart + index < newEnd && { newIndex: newStart + index }),
  }));
}

function findEqualLines(oldLines: readonly string[], newLines: readonly string[]): [number, number][] {
  const width = newLines.length + 1;
  if (oldLines.length * newLines.length > MAX_CELLS) return [];
  const lengths = new Uint32Array((oldLines.length + 1) * width);
  const at = (oldIndex: number, newIndex: number) => lengths[oldIndex * width + newIndex] ?? 0;
  for (let oldIndex = oldLines.length - 1; oldIndex >= 0; oldIndex--) {
    for (let newIndex = newLines.length - 1; newIndex >= 0; newIndex--) {
      lengths[oldIndex * width + newIndex] =
        oldLines[oldIndex] === newLines[newIndex]
          ? at(oldIndex + 1, newIndex + 1) + 1
          : Math.max(at(oldIndex + 1, newIndex), at(oldIndex, newIndex + 1));
    }
  }
  const equal: [number, number][] = [];
  for (let [oldIndex, newIndex] = [0, 0]; oldIndex < oldLines.length && newIndex < newLines.length; ) {
    if (oldLines[oldIndex] === newLines[newIndex]) equal.push([oldIndex++, newIndex++]);
    else if (at(oldIndex + 1, newIndex) >= at(oldIndex, newIndex + 1)) oldIndex++;
    else newIndex++;
  }
  return equal;
}
