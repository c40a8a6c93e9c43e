/** How many secrets were masked for the first time, and what kinds of secrets these are. */
export interface MaskedSecrets {
  count: number;
  /** Such as `github-token`; `key` for a configured one, `variable` for one of the environment. */
  kinds: string[];
}

/** The type of the custom entries that hold this. */
export const MASKED_ENTRY_TYPE = "masked";

const PLACEHOLDER = /\[(?:secret [\w-]+ [0-9a-f]{8}|key of [^\]\n]{1,100}|value of \w{1,100})\]/g;

/**
 * Tells after each turn what has been masked since the last one. It reads the entries, so that a replay of the session
 * reports the same.
 */
export class MaskReporter {
  private readonly seen = new Set<string>();
  private readCount = 0;

  /** @param entries of the session, of all branches; undefined until it is open. */
  constructor(
    private readonly entries: () => readonly object[] | undefined,
    private readonly report: (masked: MaskedSecrets) => void,
  ) {}

  onEvent({ type }: { type: string }): void {
    if (type === "agent_start" && this.readCount === 0) this.takeFresh(-1);
    if (type !== "turn_end") return;
    const fresh = this.takeFresh();
    if (fresh.length === 0) return;
    this.report({ count: fresh.length, kinds: [...new Set(fresh.map(kindOfPlaceholder))].sort() });
  }

  /** @param end up to which entry; by default all. */
  private takeFresh(end?: number): string[] {
    const added = this.entries()?.slice(this.readCount, end) ?? [];
    this.readCount += added.length;
    const found = new Set(added.flatMap((entry) => JSON.stringify(entry).match(PLACEHOLDER) ?? []));
    const fresh = [...found].filter((placeholder) => !this.seen.has(placeholder));
    for (const placeholder of fresh) this.seen.add(placeholder);
    return fresh;
  }
}

function kindOfPlaceholder(placeholder: string): string {
  if (placeholder.startsWith("[value of ")) return "variable";
  return /^\[secret ([\w-]+) /.exec(placeholder)?.[1] ?? "key";
}
