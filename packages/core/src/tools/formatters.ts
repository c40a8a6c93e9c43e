import type { ChangeObserver } from "./observe-changes.ts";
import type { Workspace } from "./workspace.ts";

/** A program that formats the files with certain extensions. */
export interface Formatter {
  name: string;
  /** A program with its arguments; `$FILE` stands for the file, which otherwise is the last argument. */
  command: readonly string[];
  /** Such as `.ts`. */
  extensions: readonly string[];
}

/** Runs the configured formatters on changed files, and says what they have changed; nothing without formatters. */
export function createFormatting(
  workspace: Workspace,
  settings: Readonly<Record<string, Omit<Formatter, "name">>> = {},
): ChangeObserver[] {
  const formatters = Object.entries(settings).map(([name, setting]) => ({ name, ...setting }));
  if (formatters.length === 0) return [];
  return [
    async (changes, context) => {
      const { formatFiles } = await import("./edit/format-files.ts");
      const paths = changes.map(({ realPath }) => realPath);
      return formatFiles(paths, { workspace, formatters, context });
    },
  ];
}
