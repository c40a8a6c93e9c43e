import { createWithholding } from "../../approval/reads.ts";
import type { LoadedConfig } from "../../config/loader.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";

/** The files of a project that rules keep from the model; see `ReviewPlace`. Undefined if there are none. */
export function createReadLimit(
  { config, projectRoot: root }: Pick<LoadedConfig, "config" | "projectRoot">,
  environment: Environment,
): ((path: string) => boolean) | undefined {
  const home = homeDirectory(environment);
  return createWithholding(root, {
    root,
    cwd: root,
    home,
    environment,
    rules: config.permissions,
    mode: "plan",
  });
}
