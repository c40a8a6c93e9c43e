import { type HostPattern, parseHostPattern } from "./host-pattern.ts";

/**
 * The hosts that sandboxed commands can reach: none, any public host, or the hosts of a list; see `parseHostPattern`.
 */
export type NetworkSetting = "off" | "on" | { allow: readonly string[] };

/** In a list of hosts, this word stands for the public package registries. */
export const PACKAGES_PRESET = "packages";

/** The reason why an entry of a list of allowed hosts is invalid, a clause; undefined for a valid one. */
export function findHostProblem(text: string): string | undefined {
  if (text === PACKAGES_PRESET) return undefined;
  const parsed = parseHostPattern(text);
  return "problem" in parsed ? parsed.problem : undefined;
}

/** Parses `off`, `on` or a list of hosts separated by commas; `problem` is a clause that names the entry. */
export function parseNetworkSetting(text: string): { setting: NetworkSetting } | { problem: string } {
  if (text === "off" || text === "on") return { setting: text };
  const allow = text.split(",").map((entry) => entry.trim());
  for (const entry of allow) {
    const problem = findHostProblem(entry);
    if (problem !== undefined) return { problem: `${JSON.stringify(entry)} ${problem}` };
  }
  return { setting: { allow } };
}

/** The patterns of a list, with the preset replaced by its hosts; invalid entries allow nothing. */
export function toHostPatterns(allow: readonly string[]): HostPattern[] {
  const entries = allow.flatMap((entry) => (entry === PACKAGES_PRESET ? PACKAGE_REGISTRY_HOSTS : [entry]));
  return entries.flatMap((entry) => {
    const parsed = parseHostPattern(entry);
    return "problem" in parsed ? [] : [parsed];
  });
}

/**
 * The hosts that the word `packages` stands for in a list of allowed hosts: the public registries from which package
 * managers download, from the documentation of each.
 */
export const PACKAGE_REGISTRY_HOSTS: readonly string[] = [
  // npm, and yarn's name for the same registry.
  ...["registry.npmjs.org", "registry.yarnpkg.com"],
  // PyPI: index and files.
  ...["pypi.org", "files.pythonhosted.org"],
  // crates.io: API, index and files.
  ...["crates.io", "index.crates.io", "static.crates.io"],
  // Go: modules, and the database of their checksums.
  ...["proxy.golang.org", "sum.golang.org"],
  // RubyGems: files and index.
  ...["rubygems.org", "index.rubygems.org"],
  // Maven Central, by both of its names.
  ...["repo.maven.apache.org", "repo1.maven.org"],
  // Debian.
  ...["deb.debian.org", "security.debian.org"],
];
