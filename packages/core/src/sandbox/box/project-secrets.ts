import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { createTrackedCheck } from "../../infrastructure/paths/git-index.ts";
import { createSecretCheck } from "../../infrastructure/paths/secret-files.ts";

// Each is a mount. Files nearer to the top are more likely to be the project's own.
const MAX_FILES = 100;
const MAX_DIRECTORIES = 20_000;

/**
 * Directories of dependencies, whose keys and certificates belong to their tests, and directories that contain no
 * secrets.
 */
const SKIPPED = new Set([".git", ".diligent", "node_modules", "site-packages", ".venv", "vendor"]);

/** `.env` files are found with the protected files. */
const FOUND_ELSEWHERE = /^\.env/i;

const MAX_CERTIFICATE_BYTES = 1024 * 1024;

/** Identifies a file, wherever it is moved. */
interface SecretFile {
  path: string;
  identity: string;
}

/**
 * The files of a project that contain keys or passwords according to their names and existed when the session began.
 * Commands may not read them, and the read tool may only with approval. Files created during the session, committed
 * files and certificates are excluded.
 */
export class ProjectSecrets {
  private files: SecretFile[] | undefined;

  constructor(
    private readonly root: string,
    /** Milliseconds since the epoch: files created later are excluded. */
    private readonly sessionStart: number,
  ) {}

  /** The absolute paths of the existing ones. The project is scanned once, and again if one of them has moved. */
  find(): string[] {
    this.files ??= this.scan().filter(
      ({ path, madeAt }) => madeAt <= this.sessionStart && !isCertificate(path),
    );
    const isMoved = this.files.some(({ path }) => identityOf(path) === undefined);
    if (isMoved) {
      const identities = new Set(this.files.map(({ identity }) => identity));
      const there = this.files.filter(({ path }) => identityOf(path) !== undefined);
      const paths = new Set(there.map(({ path }) => path));
      const found = this.scan().filter(({ path, identity }) => identities.has(identity) && !paths.has(path));
      this.files = [...there, ...found];
    }
    return this.files.map(({ path }) => path);
  }

  /** Breadth first: files nearest to the top come first. */
  private scan(): (SecretFile & { madeAt: number })[] {
    const found: (SecretFile & { madeAt: number })[] = [];
    const queue = [{ directory: this.root, repository: this.root }];
    const checks = new Map<string, (path: string) => boolean>();
    for (
      let index = 0;
      index < Math.min(queue.length, MAX_DIRECTORIES) && found.length < MAX_FILES;
      index++
    ) {
      const place = queue[index];
      if (place === undefined) break;
      const entries = entriesOf(place.directory);
      const isRepository = entries.some(({ name }) => name === ".git");
      const repository = isRepository ? place.directory : place.repository;
      const isSecret = createSecretCheck(place.directory);
      for (const entry of entries) {
        const path = `${place.directory}/${entry.name}`;
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) queue.push({ directory: path, repository });
        if (!entry.isFile() || FOUND_ELSEWHERE.test(entry.name) || !isSecret(entry.name)) continue;
        const check = checks.get(repository) ?? createTrackedCheck(repository);
        checks.set(repository, check);
        const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
        if (!stats?.isFile() || check(path.slice(repository.length + 1))) continue;
        const identity = `${stats.dev}:${stats.ino}`;
        found.push({ path, identity, madeAt: Number(stats.birthtimeMs) });
      }
    }
    return found.slice(0, MAX_FILES);
  }
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return []; // The directory was removed, or this user may not read it, and so neither may a command.
  }
}

function identityOf(path: string): string | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats?.isFile() ? `${stats.dev}:${stats.ino}` : undefined;
}

/** A PEM file that contains only certificates or public keys, which are meant to be shared. */
function isCertificate(path: string): boolean {
  if (!path.toLowerCase().endsWith(".pem")) return false;
  const text = readSmallText(path, MAX_CERTIFICATE_BYTES);
  return text !== undefined && /-----BEGIN /.test(text) && !/PRIVATE KEY-----/.test(text);
}
