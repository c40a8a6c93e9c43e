/** How many directory entries a decision may still look at, over all that it looks into; counted down. */
export interface Looks {
  left: number;
}

// Some fifty milliseconds; a line that needs more is one to be asked about.
const MAX_ENTRIES = 50_000;

/** The looks of one whole decision: to be made once and shared by all that it looks into. */
export function startLooking(): Looks {
  return { left: MAX_ENTRIES };
}
