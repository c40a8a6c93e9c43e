// More would not help either, and each of them costs a request.
const MAX_IN_A_ROW = 3;

/**
 * How often a run may be compacted: three times in a row. A request that needed no compaction ends the row, and so does
 * an answered one that was within the limit: a long run may go on as long as each compaction makes room for work.
 */
export class CompactionAttempts {
  private inARow = 0;

  get areUsedUp(): boolean {
    return this.inARow >= MAX_IN_A_ROW;
  }

  note(): void {
    this.inARow++;
  }

  endRow(): void {
    this.inARow = 0;
  }
}
