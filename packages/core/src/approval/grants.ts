import { join } from "node:path";
import { z } from "zod";
import { updatePrivateFile } from "../infrastructure/fs/private-files.ts";
import { readCheckedFile } from "../infrastructure/fs/read.ts";
import { sessionGrantsPath, userStateDirectory } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { ApprovalRequest } from "../tool/types.ts";
import { showWord } from "./bash/parse.ts";

/** The scope of an "always" answer: the request that was shown, or the wider choice that the user confirmed. */
export type Grant =
  /**
   * One simple command, verbatim, run in this directory (absolute, real), alone or as part of a line that does not
   * change the meaning of its words. Never a command that reads another command's output.
   */
  | {
      kind: "command";
      directory: string;
      words: readonly string[];
      /**
       * Given for the sandbox: applies only if the command runs in it. Without it, it applies there and on systems
       * without a sandbox.
       */
      boxed?: true | undefined;
    }
  /**
   * Every simple command that begins with these words (a program, or a program and its command) and whose further words
   * name files of the project or options that run nothing else; otherwise as for `command`.
   */
  | { kind: "command_prefix"; directory: string; words: readonly string[]; boxed?: true | undefined }
  /** A whole command line, verbatim, that contains more than plain words. */
  | {
      kind: "command_line";
      directory: string;
      text: string;
      /** Runs outside the sandbox. A grant without it never does. */
      outside?: true | undefined;
      /** As for a command. Never set together with `outside`. */
      boxed?: true | undefined;
    }
  /**
   * One file or directory (absolute, real), accessed by this tool in any call for it. `reach` is set for a directory:
   * the grant covers everything below it, but a call for a path below it is another request.
   */
  | {
      kind: "path";
      permission: "read" | "write";
      tool: string;
      path: string;
      reach?: "below" | undefined;
    }
  /**
   * Connections to a host, without a port to those of HTTP and HTTPS: those of sandboxed commands, or with `tool` those
   * of that tool.
   */
  | { kind: "host"; pattern: string; tool?: "web_fetch" | undefined }
  /** A tool of an MCP server with any arguments, as long as the definition of both has this hash. */
  | { kind: "mcp"; server: string; tool: string; definition: string }
  /** One call of another tool with exactly these arguments, as JSON. */
  | { kind: "call"; tool: string; details: string };

/** True when `grants` contains exactly this grant. */
export function isGranted(wanted: Grant, grants: readonly Grant[]): boolean {
  const key = toKey(wanted);
  return grants.some((grant) => grant.kind === wanted.kind && toKey(grant) === key);
}

/** Words as they are typed, with quotes where needed. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/** Describes for the user what a grant allows. Command words with other than plain characters are quoted. */
export function describeGrant(grant: Grant): string {
  switch (grant.kind) {
    case "command":
      return `${describeRuns(grant)}exactly \`${joinWords(grant.words)}\` in ${showWord(grant.directory)}`;
    case "command_prefix":
      return `${describeRuns(grant)}\`${joinWords(grant.words)} …\` in ${showWord(grant.directory)}, with further words that run nothing else`;
    case "command_line":
      return `${describeRuns(grant)}exactly this command line in ${showWord(grant.directory)}`;
    case "path":
      return grant.reach === undefined
        ? `${grant.tool}: ${grant.permission} exactly ${showWord(grant.path)}`
        : `${grant.tool}: ${grant.permission} ${showWord(grant.path)} and everything below it, in any call for exactly that directory`;
    case "host":
      return grant.tool === undefined
        ? `connections of sandboxed commands to ${showWord(grant.pattern)}`
        : `${grant.tool}: pages of ${showWord(grant.pattern)}`;
    case "mcp":
      return `the tool ${showWord(grant.tool)} of the server ${showWord(grant.server)}, with any arguments, until its description changes`;
    case "call":
      return `${grant.tool} with exactly these arguments`;
  }
}

/** The grant for a call of a tool that names neither a path nor a command. */
export function toCallGrant({ toolName, details }: ApprovalRequest): Grant {
  return { kind: "call", tool: toolName, details: JSON.stringify(sortKeys(details ?? {})) };
}

/** The scope comes first, where no long command hides it. */
function describeRuns({ boxed, outside }: { boxed?: true | undefined; outside?: true | undefined }): string {
  if (outside) return "outside the sandbox: ";
  return boxed ? "in the sandbox only: " : "";
}

function toKey(grant: Grant): string {
  switch (grant.kind) {
    case "command":
    case "command_prefix":
      return JSON.stringify([grant.boxed, grant.directory, ...grant.words]);
    case "command_line":
      return JSON.stringify([grant.boxed, grant.directory, grant.text, grant.outside]);
    case "path":
      return JSON.stringify([grant.permission, grant.tool, grant.path, grant.reach]);
    case "host":
      return JSON.stringify([grant.tool, grant.pattern]);
    case "mcp":
      return JSON.stringify([grant.server, grant.tool, grant.definition]);
    case "call":
      return JSON.stringify([grant.tool, grant.details]);
  }
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, sortKeys(inner)]);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

const VERSION = 1 as const;
const MAX_BYTES = 4 * 1024 * 1024;

const GrantSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("command"),
    directory: z.string(),
    words: z.array(z.string()).min(1),
    boxed: z.literal(true).optional(),
  }),
  z.strictObject({
    kind: z.literal("command_prefix"),
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
    .refine(
      ({ outside, boxed }) => !(outside && boxed),
      "a grant is for inside or outside the sandbox, not both",
    ),
  z.strictObject({
    kind: z.literal("path"),
    permission: z.enum(["read", "write"]),
    tool: z.string(),
    path: z.string(),
    reach: z.literal("below").optional(),
  }),
  z.strictObject({ kind: z.literal("host"), pattern: z.string(), tool: z.literal("web_fetch").optional() }),
  z.strictObject({ kind: z.literal("mcp"), server: z.string(), tool: z.string(), definition: z.string() }),
  z.strictObject({ kind: z.literal("call"), tool: z.string(), details: z.string() }),
]);

const ProjectSchema = z.looseObject({
  /** The exact real path; a directory below it or another worktree is another project. */
  directory: z.string(),
  /** Grants of a later version that this one does not understand are kept and allow nothing. */
  grants: z.array(z.unknown()),
});

const GrantFileSchema = z.looseObject({ version: z.literal(VERSION), projects: z.array(ProjectSchema) });

type GrantFile = z.infer<typeof GrantFileSchema>;

/** The location of saved grants: the user, the project and the session. */
export interface GrantLocation {
  environment: Environment;
  /** The project root, real. */
  root: string;
  /** The session that the grants belong to; grants without one apply in every session of the project. */
  sessionId?: string | undefined;
}

/** The saved grants of a project; `problem` says why none of them applies. */
export interface SavedGrants {
  grants: Grant[];
  problem: string | undefined;
}

/** Reads the saved grants of a project. An unusable file allows nothing. */
export async function readGrants(location: GrantLocation): Promise<SavedGrants> {
  const path = findGrantFile(location);
  const nothing = { grants: [], problem: undefined };
  if (path === undefined) return nothing;
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  if (reading.kind === "missing") return nothing;
  try {
    if (reading.kind === "unreadable") throw new Error(reading.reason);
    // Another user could have written the file.
    if (reading.file.concern !== undefined) throw new Error(reading.file.concern);
    return { grants: grantsOf(parseGrantFile(reading.file.content), location.root), problem: undefined };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { grants: [], problem: `${path}: the saved approvals are ignored: ${reason}` };
  }
}

/**
 * Adds grants to the saved ones of a project.
 * @throws Error when the file cannot be written.
 */
export async function saveGrants(location: GrantLocation, grants: readonly Grant[]): Promise<void> {
  const path = findGrantFile(location);
  if (path === undefined) throw new Error("Approvals cannot be saved: there is no home directory.");
  const { problem } = await readGrants(location);
  if (problem !== undefined) throw new Error(`${problem}. Fix or delete it to save approvals.`);
  await update(path, (file) => withGrants(file, location.root, grants));
}

/**
 * Removes a grant from the saved ones of a project.
 * @throws Error when the file cannot be changed.
 */
export async function removeSavedGrant(location: GrantLocation, grant: Grant): Promise<void> {
  const path = findGrantFile(location);
  if (path !== undefined) await update(path, (file) => withoutGrant(file, location.root, grant));
}

/** The path in the user's state directory; undefined without a home directory. */
function findGrantFile({ environment, sessionId }: GrantLocation): string | undefined {
  if (sessionId !== undefined) return sessionGrantsPath(environment, sessionId);
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

/** Grants that this version does not understand are kept. */
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
