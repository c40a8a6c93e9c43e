/** The middle value, or the mean of the two in the middle. @throws if there is none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Half the interquartile range, relative to the median: the spread of the middle half of the runs. */
export function relativeSpread(values: readonly number[]): number {
  const middle = median(values);
  return middle === 0 ? 0 : (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / middle;
}

/** The value below which the given fraction of the values lies, interpolated. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  const position = (sorted.length - 1) * part;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error("Nothing was measured.");
  return below + (above - below) * (position - Math.floor(position));
}

/** A quantity that is measured repeatedly. */
export class Series {
  readonly values: number[] = [];

  /** @param measure measures once and returns the value. */
  constructor(private readonly measure: () => Promise<number>) {}

  async addValue(): Promise<void> {
    this.values.push(await this.measure());
  }

  /**
   * Measures once without counting it: files get into the page cache, modules into Bun's transpiler cache.
   */
  async warmUp(): Promise<void> {
    await this.measure();
  }
}

/**
 * Measures the series alternately, A B A B …, so that a slow phase of the machine affects all of them alike.
 * The first round does not count.
 */
export async function takeTurns(series: readonly Series[], runs: number): Promise<void> {
  for (const each of series) await each.warmUp();
  for (let run = 0; run < runs; run++) {
    for (const each of series) await each.addValue();
  }
}

/** The duration of some work, in milliseconds. */
export async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
