import type { GrantPlace, KeptGrants } from "./grant-file.ts";
import type { Grant } from "./grants.ts";

/** How far a grant reaches: this session, or every session of the project. */
export interface ScopedGrant {
  grant: Grant;
  scope: "session" | "project";
}

/**
 * What a person has allowed for good: for this session in memory, for the project in `grants.json` in the user's state
 * directory, which nothing in the project can write to without being asked about. What reads that file and compares
 * grants is loaded when it is first asked: not before the first request of a model.
 */
export class GrantStore {
  private session: Grant[] = [];
  /** Those of `session` that were kept for the project too. */
  private kept: Grant[] = [];
  private loading: Promise<KeptGrants> | undefined;

  constructor(private readonly place: GrantPlace) {}

  /** All that counts here. The file is read once, the first time; one that cannot be used allows nothing. */
  async list(): Promise<readonly Grant[]> {
    return [...(await this.load()).grants, ...this.session];
  }

  /** The same, each once, those of the project first. */
  async listByScope(): Promise<ScopedGrant[]> {
    const { isGranted } = await import("./grants.ts");
    const ofProject = [...(await this.load()).grants, ...this.kept];
    const all = [...ofProject, ...this.session];
    return all.flatMap((grant, index): ScopedGrant[] => {
      if (isGranted(grant, all.slice(0, index))) return [];
      return [{ grant, scope: index < ofProject.length ? "project" : "session" }];
    });
  }

  /** Why what was kept for the project does not count, or undefined. */
  async problem(): Promise<string | undefined> {
    return (await this.load()).problem;
  }

  addForSession(grants: readonly Grant[]): void {
    this.session.push(...grants);
  }

  /**
   * Counts at once, and in later sessions of this project.
   * @throws Error when it cannot be written; it counts for the session then.
   */
  async addForProject(grants: readonly Grant[]): Promise<void> {
    this.addForSession(grants);
    const { keepGrants } = await import("./grant-file.ts");
    await keepGrants(this.place, grants);
    this.kept.push(...grants);
  }

  /**
   * Takes a grant back: what it allowed is asked about again, from now on and in later sessions of this project.
   * @throws Error when the file cannot be changed; later sessions still have it then.
   */
  async remove(grant: Grant): Promise<void> {
    const { isGranted } = await import("./grants.ts");
    const { dropGrant } = await import("./grant-file.ts");
    const isOther = (other: Grant) => !isGranted(other, [grant]);
    const loaded = await this.load();
    const wasKept = isGranted(grant, [...loaded.grants, ...this.kept]);
    this.session = this.session.filter(isOther);
    this.kept = this.kept.filter(isOther);
    loaded.grants = loaded.grants.filter(isOther);
    if (wasKept) await dropGrant(this.place, grant);
  }

  private load(): Promise<KeptGrants> {
    this.loading ??= import("./grant-file.ts").then(({ readGrants }) => readGrants(this.place));
    return this.loading;
  }
}
