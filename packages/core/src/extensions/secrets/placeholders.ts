import { chmodSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import { type Environment, randomHex } from "../../infrastructure/runtime.ts";

const KEY_BYTES = 32;
const KEY = /^[0-9a-f]{64}$/;
const CODE_DIGITS = 8;

/**
 * Names values by a code that only this user's key gives: a value has the same placeholder in all sessions, nothing of
 * it is stored, and nobody else can compute the code of a value that they guess, or make up a placeholder that exists.
 */
export class Placeholders {
  private key: string | undefined;

  constructor(private readonly environment: Environment) {}

  /** Such as `[secret github-token 3f9a2c71]`. */
  of(value: string, kind: string): string {
    this.key ??= openKey(this.environment);
    const hasher = new Bun.CryptoHasher("sha256", this.key);
    return `[secret ${kind} ${hasher.update(value).digest("hex").slice(0, CODE_DIGITS)}]`;
  }
}

/** Without a directory for it, the key holds until the program ends. */
function openKey(environment: Environment): string {
  const created = randomHex(KEY_BYTES);
  const directory = userStateDirectory(environment);
  if (directory === undefined) return created;
  const path = join(directory, "placeholder-key");
  const existing = readKey(path);
  if (existing !== undefined) return existing;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    saveKey(path, created);
  } catch {
    // Another process was first, or nothing can be written here.
  }
  return readKey(path) ?? created;
}

function readKey(path: string): string | undefined {
  try {
    const text = readFileSync(path, "latin1").trim();
    return KEY.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Complete or not at all: two processes that start together use the same key. */
function saveKey(path: string, key: string): void {
  const draft = `${path}.${randomHex(8)}`;
  writeFileSync(draft, `${key}\n`, { flag: "wx", mode: 0o600 });
  try {
    chmodSync(draft, 0o600);
    linkSync(draft, path);
  } finally {
    unlinkSync(draft);
  }
}
