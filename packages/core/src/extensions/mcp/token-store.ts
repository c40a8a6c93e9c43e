import { join } from "node:path";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { SessionLock } from "../../infrastructure/fs/lock.ts";
import { updatePrivateFile } from "../../infrastructure/fs/private-files.ts";
import { readCheckedFile } from "../../infrastructure/fs/read.ts";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import { type Environment, sleep } from "../../infrastructure/runtime.ts";

/** Whose tokens these are: another address is another server, even under the same name. */
export interface TokenOwner {
  server: string;
  url: string;
}

/** What is saved about one sign-in. */
interface SavedSignIn extends TokenOwner {
  tokens?: StoredOAuthTokens | undefined;
  /** The clients that were registered, by issuer. */
  clients: { issuer: string; information: StoredOAuthClientInformation }[];
}

const MAX_BYTES = 4 * 1024 * 1024;
const LOCK_PAUSE_MS = 50;
const LOCK_LIMIT_MS = 30_000;

/** The tokens of servers, in a private file (0600). */
export class TokenStore {
  private readonly path: string;

  /** @throws Error without a home directory. */
  constructor(environment: Environment) {
    const directory = userStateDirectory(environment);
    if (directory === undefined) throw new Error("Tokens cannot be saved: there is no home directory.");
    this.path = join(directory, "mcp", "tokens.json");
  }

  /** Undefined if nobody has signed in. */
  async find(owner: TokenOwner): Promise<SavedSignIn | undefined> {
    const reading = await readCheckedFile(this.path, MAX_BYTES);
    // Another user could have written the file.
    if (!("file" in reading) || reading.file.concern !== undefined) return undefined;
    return parse(reading.file.content).find((each) => isSame(each, owner));
  }

  async saveTokens(owner: TokenOwner, tokens: StoredOAuthTokens | undefined): Promise<void> {
    await this.change(owner, (before) => ({ ...before, tokens }));
  }

  async saveClient(
    owner: TokenOwner,
    issuer: string,
    information: StoredOAuthClientInformation,
  ): Promise<void> {
    await this.change(owner, (before) => ({
      ...before,
      clients: [...before.clients.filter((each) => each.issuer !== issuer), { issuer, information }],
    }));
  }

  /** @returns false if there was nothing to remove. */
  async remove(owner: TokenOwner): Promise<boolean> {
    if ((await this.find(owner)) === undefined) return false;
    await this.update((entries) => entries.filter((each) => !isSame(each, owner)));
    return true;
  }

  /** Calls `use` while no other process does: of two that refresh one token at once, one would lose it. */
  async withLock<T>(owner: TokenOwner, use: () => Promise<T>): Promise<T> {
    const name = Bun.SHA256.hash(JSON.stringify([owner.server, owner.url]), "hex").slice(0, 16);
    const lock = new SessionLock(`${this.path}-${name}.lock`);
    for (let waitedMs = 0; !(await lock.take()); waitedMs += LOCK_PAUSE_MS) {
      if (waitedMs > LOCK_LIMIT_MS) throw new Error("Another process is signing in to this server.");
      await sleep(LOCK_PAUSE_MS);
    }
    try {
      return await use();
    } finally {
      lock.release();
    }
  }

  private async change(owner: TokenOwner, edit: (before: SavedSignIn) => SavedSignIn): Promise<void> {
    await this.update((entries) => {
      const before = entries.find((each) => isSame(each, owner)) ?? { ...owner, clients: [] };
      return [...entries.filter((each) => !isSame(each, owner)), edit(before)];
    });
  }

  private update(edit: (entries: SavedSignIn[]) => SavedSignIn[]): Promise<void> {
    return updatePrivateFile(this.path, (content) => {
      const entries = edit(content ? parse(content) : []);
      return new TextEncoder().encode(`${JSON.stringify(entries, undefined, 2)}\n`);
    });
  }
}

function isSame(left: TokenOwner, right: TokenOwner): boolean {
  return left.server === right.server && left.url === right.url;
}

/** An unusable file counts as empty: the user signs in again. */
function parse(content: Uint8Array): SavedSignIn[] {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(content));
    return Array.isArray(value) ? value.filter(isSignIn) : [];
  } catch {
    return [];
  }
}

function isSignIn(value: unknown): value is SavedSignIn {
  return (
    typeof value === "object" &&
    value !== null &&
    "server" in value &&
    typeof value.server === "string" &&
    "url" in value &&
    typeof value.url === "string" &&
    "clients" in value &&
    Array.isArray(value.clients)
  );
}
