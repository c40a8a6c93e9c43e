import { relative } from "node:path";
import type { Workspace } from "../workspace.ts";

/** Relative to the project root, or absolute for what lies outside it. */
export function displayPath(workspace: Workspace, path: string): string {
  const fromRoot = relative(workspace.root, path);
  return fromRoot === ".." || fromRoot.startsWith("../") ? path : fromRoot;
}
