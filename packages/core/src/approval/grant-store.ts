import { rmSync } from "node:fs";
import { sessionGrantsPath } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { Grant, GrantLocation, SavedGrants } from "./grants.ts";

/** The scope of a grant: this session, or every session of the project. */
export interface ScopedGrant {
  grant: Grant;
  scope: "session" | "project";
}

interface LoadedGrants {
  project: SavedGrants;
  session: SavedGrants;
}

/**
 * The user's grants: for the project in `grants.json` in the user's state directory, for a saved session in a separate
 * file there, for any other session in memory. Nothing in the project can write there without approval. The code that
 * reads those files and compares grants is loaded on first use, not before the first model request.
 */
export class GrantStore {
  /** Grants of this process that are in neither file, or are newer than the project's file as read. */
  private session: Grant[] = [];
  /** The grants of `session` that were saved for the project too. */
  private saved: Grant[] = [];
  private sessionLocation: GrantLocation | undefined;
  private loading: Promise<LoadedGrants> | undefined;

  constructor(private readonly location: Omit<GrantLocation, "sessionId">) {}

  /** Saves this session's grants from now on, and applies its earlier grants again. */
  saveFor(sessionId: string): void {
    if (this.sessionLocation?.sessionId === sessionId) return;
    this.sessionLocation = { ...this.location, sessionId };
    this.loading = undefined;
  }

  /** All grants that apply here. Each file is read once; an unusable file grants nothing. */
  async list(): Promise<readonly Grant[]> {
    const { project, session } = await this.load();
    return [...project.grants, ...session.grants, ...this.session];
  }

  /** All grants without duplicates, the project's first. */
  async listByScope(): Promise<ScopedGrant[]> {
    const { isGranted } = await import("./grants.ts");
    const { project, session } = await this.load();
    const ofProject = [...project.grants, ...this.saved];
    const all = [...ofProject, ...session.grants, ...this.session];
    return all.flatMap((grant, index): ScopedGrant[] => {
      if (isGranted(grant, all.slice(0, index))) return [];
      return [{ grant, scope: index < ofProject.length ? "project" : "session" }];
    });
  }

  /** The reason why saved grants do not apply, or undefined. */
  async problem(): Promise<string | undefined> {
    const { project, session } = await this.load();
    return project.problem ?? session.problem;
  }

  /** Applies until the program ends; written nowhere. */
  addUntilEnd(grants: readonly Grant[]): void {
    this.session.push(...grants);
  }

  /**
   * Applies from now on and when the session is resumed. @throws Error if it cannot be written; it then applies until
   * the program ends.
   */
  async addForSession(grants: readonly Grant[]): Promise<void> {
    if (this.sessionLocation === undefined) {
      this.session.push(...grants);
      return;
    }
    (await this.load()).session.grants.push(...grants);
    const { saveGrants } = await import("./grants.ts");
    await saveGrants(this.sessionLocation, grants);
  }

  /**
   * Applies from now on and in later sessions of this project. @throws Error if it cannot be written; it then applies
   * until the program ends.
   */
  async addForProject(grants: readonly Grant[]): Promise<void> {
    this.session.push(...grants);
    const { saveGrants } = await import("./grants.ts");
    await saveGrants(this.location, grants);
    this.saved.push(...grants);
  }

  /**
   * Revokes a grant: what it allowed needs approval again, from now on and in later sessions of this project.
   * @throws Error when a file cannot be changed; the grant then still applies in later sessions.
   */
  async remove(grant: Grant): Promise<void> {
    const { isGranted } = await import("./grants.ts");
    const { removeSavedGrant } = await import("./grants.ts");
    const isOther = (other: Grant) => !isGranted(other, [grant]);
    const { project, session } = await this.load();
    const wasOfProject = isGranted(grant, [...project.grants, ...this.saved]);
    const wasOfSession = isGranted(grant, [...session.grants, ...this.session]);
    this.session = this.session.filter(isOther);
    this.saved = this.saved.filter(isOther);
    for (const saved of [project, session]) saved.grants = saved.grants.filter(isOther);
    if (wasOfProject) await removeSavedGrant(this.location, grant);
    if (wasOfSession && this.sessionLocation) await removeSavedGrant(this.sessionLocation, grant);
  }

  private load(): Promise<LoadedGrants> {
    this.loading ??= import("./grants.ts").then(async ({ readGrants }) => {
      const { location, sessionLocation } = this;
      const nothing = { grants: [], problem: undefined };
      return {
        project: await readGrants(location),
        session: sessionLocation ? await readGrants(sessionLocation) : nothing,
      };
    });
    return this.loading;
  }
}

/** Deletes the grants of a deleted session. @throws the file system's error when it cannot be deleted. */
export function forgetSessionGrants(environment: Environment, sessionId: string): void {
  const path = sessionGrantsPath(environment, sessionId);
  if (path !== undefined) rmSync(path, { force: true });
}
