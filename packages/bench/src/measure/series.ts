/** A quantity that is measured again and again. */
export class Series {
  readonly values: number[] = [];

  /** @param measure does it once and returns the value. */
  constructor(private readonly measure: () => Promise<number>) {}

  async addValue(): Promise<void> {
    this.values.push(await this.measure());
  }

  /** Does it once without counting it: files get into the page cache, modules into Bun's transpiler cache. */
  async warmUp(): Promise<void> {
    await this.measure();
  }
}

/**
 * Measures the series in turns, A B A B …, so that a slow phase of the machine meets all of them alike. The first round
 * does not count.
 */
export async function takeTurns(series: readonly Series[], runs: number): Promise<void> {
  for (const each of series) await each.warmUp();
  for (let run = 0; run < runs; run++) {
    for (const each of series) await each.addValue();
  }
}
