import { join } from "node:path";
import { z } from "zod";
import type { Environment } from "../infrastructure/environment.ts";
import { userStateDirectory } from "../infrastructure/places/user-directories.ts";
import { readCheckedFile } from "../infrastructure/reading/checked-file.ts";
import { updatePrivateFile } from "../infrastructure/writing/private-file.ts";
import { type Grant, isGranted } from "./grants.ts";

const VERSION = 1 as const;
const MAX_BYTES = 4 * 1024 * 1024;

const GrantSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("command"), directory: z.string(), words: z.array(z.string()).min(1) }),
  z.strictObject({ kind: z.literal("command_line"), directory: z.string(), text: z.string() }),
  z.strictObject({
    kind: z.literal("path"),
    permission: z.enum(["read", "write"]),
    tool: z.string(),
    path: z.string(),
    reach: z.literal("below").optional(),
  }),
  z.strictObject({ kind: z.literal("call"), tool: z.string(), details: z.string() }),
]);

const ProjectSchema = z.looseObject({
  /** The exact real path; a directory below it or another worktree is another project. */
  directory: z.string(),
  /** What a later version has added and this one does not understand is kept, and allows nothing. */
  grants: z.array(z.unknown()),
});

const GrantFileSchema = z.looseObject({ version: z.literal(VERSION), projects: z.array(ProjectSchema) });

type GrantFile = z.infer<typeof GrantFileSchema>;

/** How far a grant reaches: this session, or every session of the project. */
export interface ScopedGrant {
  grant: Grant;
  scope: "session" | "project";
}

export interface GrantStoreOptions {
  environment: Environment;
  /** The project root, real. */
  root: string;
}

/**
 * What a person has allowed for good: for this session in memory, for the project in `grants.json` in the user's state
 * directory, which nothing in the project can write to without being asked about.
 */
export class GrantStore {
  private session: Grant[] = [];
  /** Those of `session` that were kept for the project too. */
  private kept: Grant[] = [];
  private loading: Promise<{ grants: Grant[]; problem: string | undefined }> | undefined;

  constructor(private readonly options: GrantStoreOptions) {}

  /** All that counts here. The file is read once, the first time; one that cannot be used allows nothing. */
  async list(): Promise<readonly Grant[]> {
    return [...(await this.load()).grants, ...this.session];
  }

  /** The same, each once, those of the project first. */
  async listByScope(): Promise<ScopedGrant[]> {
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
    const path = findGrantFile(this.options.environment);
    if (path === undefined) throw new Error("Approvals cannot be kept: there is no home directory.");
    const { problem } = await readGrants(this.options);
    if (problem !== undefined) throw new Error(`${problem}. Mend or remove it to keep approvals.`);
    await this.update(path, (file) => withGrants(file, this.options.root, grants));
    this.kept.push(...grants);
  }

  /**
   * Takes a grant back: what it allowed is asked about again, from now on and in later sessions of this project.
   * @throws Error when the file cannot be changed; later sessions still have it then.
   */
  async remove(grant: Grant): Promise<void> {
    const isOther = (other: Grant) => !isGranted(other, [grant]);
    const loaded = await this.load();
    const wasKept = isGranted(grant, [...loaded.grants, ...this.kept]);
    this.session = this.session.filter(isOther);
    this.kept = this.kept.filter(isOther);
    loaded.grants = loaded.grants.filter(isOther);
    const path = findGrantFile(this.options.environment);
    if (!wasKept || path === undefined) return;
    await this.update(path, (file) => withoutGrant(file, this.options.root, grant));
  }

  private async update(path: string, change: (file: GrantFile) => GrantFile): Promise<void> {
    await updatePrivateFile(path, (content) => {
      const file: GrantFile =
        content === undefined ? { version: VERSION, projects: [] } : parseGrantFile(content);
      return new TextEncoder().encode(`${JSON.stringify(change(file), null, 2)}\n`);
    });
  }

  private load() {
    this.loading ??= readGrants(this.options);
    return this.loading;
  }
}

/** Where approvals are kept; undefined without a home directory. */
function findGrantFile(environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory === undefined ? undefined : join(directory, "grants.json");
}

async function readGrants({ environment, root }: GrantStoreOptions) {
  const path = findGrantFile(environment);
  const nothing = { grants: [], problem: undefined };
  if (path === undefined) return nothing;
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  if (reading.kind === "missing") return nothing;
  try {
    if (reading.kind === "unreadable") throw new Error(reading.reason);
    // Somebody else could have written it.
    if (reading.file.concern !== undefined) throw new Error(reading.file.concern);
    return { grants: grantsOf(parseGrantFile(reading.file.content), root), problem: undefined };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { grants: [], problem: `${path}: nothing in it counts as approved: ${reason}` };
  }
}

function parseGrantFile(content: Uint8Array): GrantFile {
  if (content.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  return GrantFileSchema.parse(JSON.parse(new TextDecoder().decode(content)));
}

function grantsOf({ projects }: GrantFile, root: string): Grant[] {
  const own = projects.filter(({ directory }) => directory === root).flatMap(({ grants }) => grants);
  return own.flatMap((grant) => {
    const parsed = GrantSchema.safeParse(grant);
    return parsed.success ? [parsed.data] : [];
  });
}

function withGrants(file: GrantFile, root: string, grants: readonly Grant[]): GrantFile {
  const known = grantsOf(file, root);
  const added = grants.filter((grant) => !isGranted(grant, known));
  const isThere = file.projects.some(({ directory }) => directory === root);
  const projects = isThere ? file.projects : [...file.projects, { directory: root, grants: [] }];
  return {
    ...file,
    projects: projects.map((project) =>
      project.directory === root ? { ...project, grants: [...project.grants, ...added] } : project,
    ),
  };
}

/** What a later version has added and this one does not understand stays. */
function withoutGrant(file: GrantFile, root: string, grant: Grant): GrantFile {
  const isOther = (other: unknown) => {
    const parsed = GrantSchema.safeParse(other);
    return !parsed.success || !isGranted(parsed.data, [grant]);
  };
  return {
    ...file,
    projects: file.projects.map((project) =>
      project.directory === root ? { ...project, grants: project.grants.filter(isOther) } : project,
    ),
  };
}
