/** One thing that was looked at in a long session. */
export interface SoakRow {
  what: string;
  found: string;
  /** What it may be at most; left out where it is for information. */
  budget?: string;
  isBroken?: boolean;
}

/** What a long session was like. */
export interface SoakVerdict {
  rows: readonly SoakRow[];
  /** What exactly is not as it has to be, where a row has no room for it. */
  details?: readonly string[];
}

/** True when anything is above its budget. */
export function isBroken({ rows }: SoakVerdict): boolean {
  return rows.some((row) => row.isBroken);
}

/** Something that may become no more, such as open files. */
export function toCountRow(what: string, before: number, after: number): SoakRow {
  return { what, found: `${before} → ${after}`, budget: "no more", isBroken: after > before };
}
