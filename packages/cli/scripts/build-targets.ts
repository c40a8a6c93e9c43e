import { UsageError } from "../src/errors.ts";

/** A platform that an executable can be built for. */
export interface BuildTarget {
  /** Its name for users, and in the name of the file. */
  name: string;
  /** Bun's name for it. */
  bun: Bun.Build.CompileTarget;
  /** Node's name for it, which ripgrep's packages use. */
  platform: "linux" | "darwin";
  arch: "x64" | "arm64";
  isMusl?: true;
}

/** Windows is not included: there diligent runs in WSL. */
export const BUILD_TARGETS: readonly BuildTarget[] = [
  { name: "linux-x64", bun: "bun-linux-x64", platform: "linux", arch: "x64" },
  { name: "linux-arm64", bun: "bun-linux-arm64", platform: "linux", arch: "arm64" },
  { name: "linux-x64-musl", bun: "bun-linux-x64-musl", platform: "linux", arch: "x64", isMusl: true },
  { name: "linux-arm64-musl", bun: "bun-linux-arm64-musl", platform: "linux", arch: "arm64", isMusl: true },
  { name: "darwin-x64", bun: "bun-darwin-x64", platform: "darwin", arch: "x64" },
  { name: "darwin-arm64", bun: "bun-darwin-arm64", platform: "darwin", arch: "arm64" },
];

/** The machine that builds. */
export interface Host {
  platform: string;
  arch: string;
  /** The C library is musl, as on Alpine. */
  isMusl: boolean;
}

/**
 * The targets that a word stands for: a target's name, `host` for this machine, or `all`.
 * @throws UsageError for anything else, with the possible words.
 */
export function chooseTargets(word: string, host: Host): BuildTarget[] {
  if (word === "all") return [...BUILD_TARGETS];
  const target = BUILD_TARGETS.find(({ name }) => name === word) ?? (word === "host" && findHostTarget(host));
  if (target) return [target];
  const names = BUILD_TARGETS.map(({ name }) => name).join(", ");
  throw new UsageError(
    `Unknown target ${word} on ${host.platform} ${host.arch}; choose host, all, ${names}.`,
  );
}

export function findHostTarget({ platform, arch, isMusl }: Host): BuildTarget | undefined {
  return BUILD_TARGETS.find(
    (target) => target.platform === platform && target.arch === arch && (target.isMusl ?? false) === isMusl,
  );
}
