import type { Environment } from "../infrastructure/runtime.ts";
import type { ConfigWarning } from "./errors.ts";
import { type ChangedSetting, compareSettings } from "./settings.ts";
import type { TrustedItem, TrustedProject } from "./trust-store.ts";

/**
 * A definition in the project, such as a skill, a command or a server, that takes effect only once the user trusts it
 * in exactly this form: it could run code, send data, loosen rules or speak to the model.
 */
export interface TrustItem {
  /** The name of its `TrustKind`; kind, name and path together identify the item. */
  kind: string;
  name: string;
  /** The file that defines it, relative to the project root. */
  path: string;
  /**
   * What the user decides about, by name: command, arguments, names of environment variables (never their values),
   * address, hook commands. The differences are shown when the item has changed.
   */
  details: Readonly<Record<string, string>>;
  /** Hexadecimal; of everything that determines the effect. */
  sha256: string;
}

/** The project whose definitions are described. */
export interface TrustPlace {
  /** Absolute and real. */
  root: string;
  environment: Environment;
}

/** The definitions found in a project. */
export interface TrustFindings {
  items: TrustItem[];
  /** Files that could not be read. */
  warnings: ConfigWarning[];
}

/** One kind of definitions that need trust. */
export interface TrustKind {
  /** Stored with the user's decision, so it never changes. */
  kind: string;
  /** The heading of its items, such as `Skills that the model is offered`. */
  title: string;
  /** Singular and plural for the line that says what waits, such as `["skill", "skills"]`. */
  noun: readonly [one: string, many: string];
  /** Finds all of them in the project, in subdirectories, too. It reads files and runs nothing. */
  find(place: TrustPlace): Promise<TrustFindings>;
}

/** A definition that is not trusted in its current form. */
export interface WaitingItem extends TrustItem {
  /** The heading of its kind. */
  title: string;
  /** `changed`: it was trusted in another form. */
  state: "untrusted" | "changed";
  /** Changes of `details` since it was trusted; empty if it is new. */
  changes: ChangedSetting[];
}

type ItemRecord = Pick<TrustedProject, "items"> | undefined;

/** The state of one definition; trust in the others of the project does not matter. */
function findItemState(record: ItemRecord, item: TrustItem): "untrusted" | "changed" | "trusted" {
  const saved = findSavedItem(record, item);
  if (saved === undefined) return "untrusted";
  return saved.sha256 === item.sha256 ? "trusted" : "changed";
}

function findSavedItem(record: ItemRecord, { kind, name, path }: TrustItem): TrustedItem | undefined {
  return record?.items.find((item) => item.kind === kind && item.name === name && item.path === path);
}

/** The form in which the user's decision is saved. */
function toTrustedItem({ kind, name, path, details, sha256 }: TrustItem): TrustedItem {
  return { kind, name, path, sha256, settings: details };
}

/** All definitions of a project: those that wait, and what trusting the project would save. */
export async function describeItems(
  kinds: readonly TrustKind[],
  place: TrustPlace,
  record: ItemRecord,
): Promise<{ waiting: WaitingItem[]; items: TrustedItem[]; warnings: ConfigWarning[] }> {
  const found = await Promise.all(kinds.map(async ({ title, find }) => ({ title, ...(await find(place)) })));
  return {
    waiting: found.flatMap(({ title, items }) =>
      items.flatMap((item) => {
        const state = findItemState(record, item);
        if (state === "trusted") return [];
        const saved = findSavedItem(record, item);
        const changes = saved === undefined ? [] : compareSettings(saved.settings ?? {}, item.details);
        return [{ ...item, title, state, changes }];
      }),
    ),
    items: found.flatMap(({ items }) => items.map(toTrustedItem)),
    warnings: found.flatMap(({ warnings }) => warnings),
  };
}

/** The project whose definitions are selected, and trust that is not saved. */
export interface ProjectTrustOptions extends TrustPlace {
  trustedOnce?: Pick<TrustedProject, "directory" | "items"> | undefined;
}

/** The trust in one project while a harness uses it. Definitions that are not trusted are counted, for one line. */
export class ProjectTrust {
  private records: Promise<ItemRecord[]> | undefined;
  private readonly waitingCounts = new Map<TrustKind["noun"], number>();
  private readonly warnings: ConfigWarning[] = [];

  constructor(private readonly options: ProjectTrustOptions) {}

  /** True if a definition that was to be selected is not trusted. */
  get isWaiting(): boolean {
    return [...this.waitingCounts.values()].some((count) => count > 0);
  }

  /** Those of all items of one kind that the user trusts in their current form; the others do not take effect. */
  async selectTrusted<T extends TrustItem>(
    { noun }: Pick<TrustKind, "noun">,
    items: readonly T[],
  ): Promise<T[]> {
    if (items.length === 0) return [];
    this.records ??= this.readRecords();
    const records = await this.records;
    const trusted = items.filter((item) =>
      records.some((record) => findItemState(record, item) === "trusted"),
    );
    this.waitingCounts.set(noun, items.length - trusted.length);
    return trusted;
  }

  /** One line for the user that says what waits, and problems with the saved trust. */
  describe(): ConfigWarning[] {
    const counts = [...this.waitingCounts].filter(([, count]) => count > 0);
    if (counts.length === 0) return this.warnings;
    const listed = counts.map(([[one, many], count]) => `${count} ${count === 1 ? one : many}`);
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    // Its data takes milliseconds to load, and mostly one kind waits.
    const what = listed.length === 1 ? listed[0] : new Intl.ListFormat("en").format(listed);
    const message = `${what} of this project ${total === 1 ? "waits" : "wait"} for your trust and ${
      total === 1 ? "is" : "are"
    } not used; see "diligent trust"`;
    return [...this.warnings, { code: "not_trusted", message }];
  }

  private async readRecords(): Promise<ItemRecord[]> {
    const { root, environment, trustedOnce } = this.options;
    // Most projects define nothing that needs trust, and then its reader is not loaded.
    const { findTrustedProject, readTrust } = await import("./trust-store.ts");
    const { projects, warnings } = await readTrust(environment);
    this.warnings.push(...warnings);
    const once = trustedOnce?.directory === root ? trustedOnce : undefined;
    return [findTrustedProject(projects, root), once].filter((record) => record !== undefined);
  }
}
