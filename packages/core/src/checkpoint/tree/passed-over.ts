import { platformName } from "../../infrastructure/environment.ts";

/**
 * What belongs to the version control and to us: never kept, never restored, at any depth. Nested repositories have a
 * `.git` too, some as a file.
 */
const NEVER_TOUCHED: ReadonlySet<string> = new Set([".git", ".diligent"]);

/** Our own files while they are being written. */
const UNFINISHED = /^\.diligent-[0-9a-f]{12}\.tmp$/;

/**
 * Directories of what can be downloaded or made again, by the names their tools give them. `dist`, `build` and `vendor` are
 * not among them: people keep their own work in those.
 */
const CACHES: ReadonlySet<string> = new Set([
  ...["node_modules", "bower_components", ".pnpm-store", ".yarn", ".npm"],
  ...[".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".eggs"],
  ...[".gradle", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".vite", ".cache"],
  ...[".terraform", ".bundle", ".dart_tool", ".zig-cache", "DerivedData"],
]);

/** Tools put it into directories that need no backup, Cargo into `target`; see https://bford.info/cachedir/. */
export const CACHE_TAG = "CACHEDIR.TAG";
/** With what such a file begins. */
export const CACHE_TAG_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55";

/** Python's mark of an environment, whatever its directory is called. */
export const ENVIRONMENT_MARK = "pyvenv.cfg";

/** True for what belongs to git or to us. */
export function isControlName(name: string): boolean {
  // There, as a rule, both spellings mean the same directory.
  const known = platformName() === "darwin" ? name.toLowerCase() : name;
  return NEVER_TOUCHED.has(known);
}

/** True for what is written beside a file before it takes its place. */
export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name);
}

/** True for directories that their tools make again. */
export function isCacheName(name: string): boolean {
  return CACHES.has(name);
}
