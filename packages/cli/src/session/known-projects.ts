import type { SessionHistory } from "@diligent/core/history";
import { findProjectRoot, homeDirectory } from "@diligent/core/light";
import type { CliIo } from "../io/io.ts";

/** The index of `diligent history`, if there is one. */
export async function openSessionIndex({
  environment,
}: Pick<CliIo, "environment">): Promise<SessionHistory | undefined> {
  const { historyPaths, SessionHistory: History } = await import("@diligent/core/history");
  const paths = historyPaths(environment);
  const history = paths && new History(paths);
  return history?.exists ? history : undefined;
}

/** The roots of this project and of those in which diligent was used before, each once. */
export async function listKnownProjects(
  cwd: string,
  { environment }: Pick<CliIo, "environment">,
): Promise<string[]> {
  const home = homeDirectory(environment);
  const own = findProjectRoot(cwd, home);
  const { readInputDirectories } = await import("@diligent/core/interactive");
  const others = readInputDirectories(environment).map((directory) => findProjectRoot(directory, home));
  const { historyPaths, SessionHistory: History } = await import("@diligent/core/history");
  const paths = historyPaths(environment);
  // They are noted without an index, too.
  const noted = paths ? new History(paths).projects : [];
  return [...new Set([own, ...others, ...noted])];
}
