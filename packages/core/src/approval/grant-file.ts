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
  z.strictObject({
    kind: z.literal("command"),
    directory: z.string(),
    words: z.array(z.string()).min(1),
    boxed: z.literal(true).optional(),
  }),
  z
    .strictObject({
      kind: z.literal("command_line"),
      directory: z.string(),
      text: z.string(),
      outside: z.literal(true).optional(),
      boxed: z.literal(true).optional(),
    })
    .refine(({ outside, boxed }) => !(outside && boxed), "it is for outside the sandbox or for inside"),
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

/** Whose approvals are kept, and for which project. */
export interface GrantPlace {
  environment: Environment;
  /** The project root, real. */
  root: string;
}

/** What is kept for a project; `problem` says why none of it counts. */
export interface KeptGrants {
  grants: Grant[];
  problem: string | undefined;
}

/** What counts in a project. A file that cannot be used allows nothing. */
export async function readGrants({ environment, root }: GrantPlace): Promise<KeptGrants> {
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

/**
 * Adds to what is kept for a project.
 * @throws Error when it cannot be written.
 */
export async function keepGrants(place: GrantPlace, grants: readonly Grant[]): Promise<void> {
  const path = findGrantFile(place.environment);
  if (path === undefined) throw new Error("Approvals cannot be kept: there is no home directory.");
  const { problem } = await readGrants(place);
  if (problem !== undefined) throw new Error(`${problem}. Mend or remove it to keep approvals.`);
  await update(path, (file) => withGrants(file, place.root, grants));
}

/**
 * Takes a grant out of what is kept for a project.
 * @throws Error when the file cannot be changed.
 */
export async function dropGrant({ environment, root }: GrantPlace, grant: Grant): Promise<void> {
  const path = findGrantFile(environment);
  if (path !== undefined) await update(path, (file) => withoutGrant(file, root, grant));
}

/** In the user's state directory; undefined without a home directory. */
function findGrantFile(environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory === undefined ? undefined : join(directory, "grants.json");
}

async function update(path: string, change: (file: GrantFile) => GrantFile): Promise<void> {
  await updatePrivateFile(path, (content) => {
    const file: GrantFile =
      content === undefined ? { version: VERSION, projects: [] } : parseGrantFile(content);
    return new TextEncoder().encode(`${JSON.stringify(change(file), null, 2)}\n`);
  });
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
