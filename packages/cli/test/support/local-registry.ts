import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const STORE = join(import.meta.dir, "..", "..", "..", "..", "node_modules", ".bun");

/**
 * A loopback registry that has the packages installed in this repository, and nothing of the repository
 * itself.
 */
export interface LocalRegistry extends AsyncDisposable {
  url: string;
  /** The requested packages, in order. */
  readonly asked: string[];
  /** The environment of the installing Bun: no other registry, an empty home and an empty cache. */
  environment(home: string): Record<string, string>;
}

export function startLocalRegistry(): LocalRegistry {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const path = decodeURIComponent(new URL(url).pathname).slice(1);
      const [, name = path, version] = /^(.+)\/-\/(.+)\.tgz$/.exec(path) ?? [];
      if (version !== undefined) return new Response(packInstalled(join(findInstalled(name, version) ?? "")));
      asked.push(name);
      const manifest = describePackage(name, server.url.origin);
      return manifest ? Response.json(manifest) : new Response("not found", { status: 404 });
    },
  });
  return {
    url: server.url.origin,
    asked,
    environment: (home) => ({
      PATH: process.env.PATH ?? "",
      HOME: home,
      TMPDIR: join(home, "tmp"),
      BUN_INSTALL_CACHE_DIR: join(home, "cache"),
      BUN_CONFIG_REGISTRY: server.url.href,
    }),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

function describePackage(name: string, origin: string): object | undefined {
  const versions = installedVersions(name).map((version) => {
    const packageFile = JSON.parse(
      readFileSync(join(findInstalled(name, version) ?? "", "package.json"), "utf8"),
    );
    return [version, { ...packageFile, dist: { tarball: `${origin}/${name}/-/${version}.tgz` } }] as const;
  });
  const latest = versions.at(-1)?.[0];
  if (latest === undefined) return undefined;
  return { name, "dist-tags": { latest }, versions: Object.fromEntries(versions) };
}

/** In the store, a directory is called `@scope+name@version`, followed by a hash if peers matter. */
function installedVersions(name: string): string[] {
  const prefix = `${name.replace("/", "+")}@`;
  const found = readdirSync(STORE).filter((entry) => entry.startsWith(prefix));
  return [...new Set(found.map((entry) => entry.slice(prefix.length).split("+", 1)[0] ?? ""))].sort();
}

function findInstalled(name: string, version: string): string | undefined {
  const prefix = `${name.replace("/", "+")}@${version}`;
  return readdirSync(STORE)
    .filter((entry) => entry === prefix || entry.startsWith(`${prefix}+`))
    .map((entry) => join(STORE, entry, "node_modules", name))
    .find((directory) => existsSync(join(directory, "package.json")));
}

function packInstalled(directory: string): Uint8Array<ArrayBuffer> {
  const tar = Bun.spawnSync(["tar", "-c", "--transform", "s,^\\.,package,", "-C", directory, "."]);
  if (!tar.success) throw new Error(`tar: ${tar.stderr}`);
  return Bun.gzipSync(new Uint8Array(tar.stdout), { level: 1 });
}
