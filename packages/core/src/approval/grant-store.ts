import { rmSync } from "node:fs";
import { sessionGrantsPath } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { Grant, GrantLocation, KeptGrants } from "./grants.ts";

/** How far a grant reaches: this session, or every session of the project. */
export interface ScopedGrant {
  grant: Grant;
  scope: "session" | "project";
}

interface LoadedGrants {
  project: KeptGrants;
  session: KeptGrants;
}

/**
 * Grants of the user: for the project in `grants.json` in the user's state directory, for a session in a file of
 * its own there, or in memory where it is not saved. Nothing in the project can write there without approval. The
 * code that reads those files and compares grants is loaded on first use, not before the first model request.
 */
export class GrantStore {
  /** Grants from here that are in neither file, or are newer than the project's file as read. */
  private session: Grant[] = [];
  /** Those of `session` that were kept for the project too. */
  private kept: Grant[] = [];
  private sessionLocation: GrantLocation | undefined;
  private loading: Promise<LoadedGrants> | undefined;

  constructor(private readonly place: Omit<GrantLocation, "sessionId">) {}

  /** From now on session grants outlive the program, and earlier grants of this session apply again. */
  keepFor(sessionId: string): void {
    if (this.sessionLocation?.sessionId === sessionId) return;
    this.sessionLocation = { ...this.place, sessionId };
    this.loading = undefined;
  }

  /** All grants that apply here. Each file is read once; an unusable one grants nothing. */
  async list(): Promise<readonly Grant[]> {
    const { project, session } = await this.load();
    return [...project.grants, ...session.grants, ...this.session];
  }

  /** The same, each once, those of the project first. */
  async listByScope(): Promise<ScopedGrant[]> {
    const { isGranted } = await import("./grants.ts");
    const { project, session } = await this.load();
    const ofProject = [...project.grants, ...this.kept];
    const all = [...ofProject, ...session.grants, ...this.session];
    return all.flatMap((grant, index): ScopedGrant[] => {
      if (isGranted(grant, all.slice(0, index))) return [];
      return [{ grant, scope: index < ofProject.length ? "project" : "session" }];
    });
  }

  /** Why saved grants do not apply, or undefined. */
  async problem(): Promise<string | undefined> {
    const { project, session } = await this.load();
    return project.problem ?? session.problem;
  }

  /**
   * Applies from now on, and when the session is resumed. @throws Error if it cannot be written; it applies until
   * the program ends then.
   */
  async addForSession(grants: readonly Grant[]): Promise<void> {
    if (this.sessionLocation === undefined) {
      this.session.push(...grants);
      return;
    }
    (await this.load()).session.grants.push(...grants);
    const { keepGrants } = await import("./grants.ts");
    await keepGrants(this.sessionLocation, grants);
  }

  /**
   * Applies at once, and in later sessions of this project. @throws Error if it cannot be written; it applies until
   * the program ends then.
   */
  async addForProject(grants: readonly Grant[]): Promise<void> {
    this.session.push(...grants);
    const { keepGrants } = await import("./grants.ts");
    await keepGrants(this.place, grants);
    this.kept.push(...grants);
  }

  /**
   * Revokes a grant: what it allowed needs approval again, from now on and in later sessions of this project.
   * @throws Error when a file cannot be changed; later sessions still have it then.
   */
  async remove(grant: Grant): Promise<void> {
    const { isGranted } = await import("./grants.ts");
    const { dropGrant } = await import("./grants.ts");
    const isOther = (other: Grant) => !isGranted(other, [grant]);
    const { project, session } = await this.load();
    const wasOfProject = isGranted(grant, [...project.grants, ...this.kept]);
    const wasOfSession = isGranted(grant, [...session.grants, ...this.session]);
    this.session = this.session.filter(isOther);
    this.kept = this.kept.filter(isOther);
    for (const kept of [project, session]) kept.grants = kept.grants.filter(isOther);
    if (wasOfProject) await dropGrant(this.place, grant);
    if (wasOfSession && this.sessionLocation) await dropGrant(this.sessionLocation, grant);
  }

  private load(): Promise<LoadedGrants> {
    this.loading ??= import("./grants.ts").then(async ({ readGrants }) => {
      const { place, sessionLocation } = this;
      const nothing = { grants: [], problem: undefined };
      return {
        project: await readGrants(place),
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
