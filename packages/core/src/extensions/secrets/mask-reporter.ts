/** How many secrets were masked for the first time, and what kinds of secrets these are. */
export interface MaskedSecrets {
  count: number;
  /** Such as `github-token`; `key` for a configured one, `variable` for one of the environment. */
  kinds: string[];
}

/** The type of the custom entries that hold this. */
export const MASKED_ENTRY_TYPE = "masked";

const PLACEHOLDER = /\[(?:secret [\w-]+ [0-9a-f]{8}|key of [^\]\n]{1,100}|value of \w{1,100})\]/g;

/** The lists that the entries of a session hold; undefined if none of them has any. */
export function readPlaceholderLists(entries: readonly object[]): SavedLists | undefined {
  const lists = entries.flatMap((entry) => (isMaskedEntry(entry) && toLists(entry.data)) || []);
  if (lists.length === 0) return undefined;
  return {
    issued: new Set(lists.flatMap(({ issued }) => issued)),
    foreign: new Set(lists.flatMap(({ foreign }) => foreign)),
  };
}

interface SavedLists {
  issued: Set<string>;
  foreign: Set<string>;
}

function isMaskedEntry(entry: object): entry is { data: unknown } {
  return "customType" in entry && entry.customType === MASKED_ENTRY_TYPE && "data" in entry;
}

function toLists(data: unknown): { issued: string[]; foreign: string[] } | undefined {
  if (typeof data !== "object" || data === null || !("issued" in data && "foreign" in data)) return undefined;
  return { issued: toTexts(data.issued), foreign: toTexts(data.foreign) };
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** What a redactor knows about placeholders. */
interface KnownPlaceholders {
  readonly shownPlaceholders: ReadonlySet<string>;
  readonly foreignPlaceholders: ReadonlySet<string>;
}

/** What was new in a turn, as an entry keeps it: a resumed session restores what was issued, and nothing foreign. */
interface MaskedInTurn extends MaskedSecrets {
  issued: string[];
  foreign: string[];
}

/**
 * Tells after each turn what has been masked since the last one: the placeholders that the entries have and that the
 * redactor has put somewhere. One that was only typed is none of them.
 */
export class MaskReporter {
  private readonly found = new Set<string>();
  private lists: SavedLists | undefined;
  private readCount = 0;

  /** @param entries of the session, of all branches; undefined until it is open. */
  constructor(
    private readonly entries: () => readonly object[] | undefined,
    private readonly known: KnownPlaceholders,
    private readonly report: (masked: MaskedInTurn) => void,
  ) {}

  onEvent({ type }: { type: string }): void {
    if (type !== "turn_end") return;
    const entries = this.entries() ?? [];
    this.lists ??= readPlaceholderLists(entries) ?? { issued: new Set(), foreign: new Set() };
    const issued = this.takeIssued(entries, this.lists.issued);
    const foreign = takeNew(this.known.foreignPlaceholders, this.lists.foreign);
    if (issued.length + foreign.length === 0) return;
    const kinds = [...new Set(issued.map(kindOfPlaceholder))].sort();
    this.report({ count: issued.length, kinds, issued, foreign });
  }

  private takeIssued(entries: readonly object[], saved: Set<string>): string[] {
    const added = entries.slice(this.readCount).filter((entry) => !isMaskedEntry(entry));
    this.readCount = entries.length;
    for (const entry of added)
      for (const placeholder of JSON.stringify(entry).match(PLACEHOLDER) ?? []) this.found.add(placeholder);
    const { shownPlaceholders } = this.known;
    return takeNew(
      [...this.found].filter((placeholder) => shownPlaceholders.has(placeholder)),
      saved,
    );
  }
}

/** Those that `known` does not have yet; it has them then. */
function takeNew(given: Iterable<string>, known: Set<string>): string[] {
  const fresh = [...given].filter((each) => !known.has(each));
  for (const each of fresh) known.add(each);
  return fresh;
}

function kindOfPlaceholder(placeholder: string): string {
  if (placeholder.startsWith("[value of ")) return "variable";
  return /^\[secret ([\w-]+) /.exec(placeholder)?.[1] ?? "key";
}
