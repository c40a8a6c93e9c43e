/** The user and the project whose file is damaged. */
export interface StorePlace {
  home: string;
  project: string;
}

/** A file of ours that is read at the start or later, and what has to hold whatever is in it. */
export interface Store {
  name: string;
  /** From the place's top. */
  path(place: StorePlace): string;
  /** As we write it. */
  content: string;
  /** Reads it, and goes on with it. @returns what is wrong, in words. @throws what is a fault, too. */
  check(place: StorePlace, path: string): Promise<string | undefined>;
}
