import { createUnifiedDiff } from "../edit/unified-diff.ts";
import type { Workspace } from "../workspace.ts";
import { displayPath } from "./display-path.ts";
import { formatBytes } from "./format-bytes.ts";

// Somebody waits for the question. Larger files are compared when they are written.
const MAX_BYTES = 4 * 1024 * 1024;

// Whoever shows it decides what of it; this bounds what is carried about.
const LIMITS = { maxLines: 5_000, maxLineChars: 10_000 };

/** A change of one file that nobody has made yet. */
export interface PlannedChange {
  /** Absolute. */
  path: string;
  /** Bytes of what is there and of what it would become, as far as that is known before looking. */
  sizes: readonly (number | bigint)[];
  /** Works the change out. Throws where the call would fail. */
  plan(): { before: string; after: string };
}

/**
 * What a call would change, as a unified diff; undefined where nothing would be. One that is too large is told in a line
 * that no diff could hold as content.
 * @throws Error where the call would fail.
 */
export async function previewChange(
  workspace: Workspace,
  { path, sizes, plan }: PlannedChange,
): Promise<string | undefined> {
  const name = displayPath(workspace, path);
  // A line break in it would look like a line of the diff.
  const shownPath = /[\n\r]/.test(name) ? JSON.stringify(name) : name;
  if (sizes.some((size) => size > MAX_BYTES)) {
    const total = sizes.map((size) => formatBytes(size)).join(" and ");
    return `--- ${shownPath}\n+++ ${shownPath}\n\\ The change is too large to be shown: ${total}.\n`;
  }
  const { before, after } = plan();
  const { diff } = await createUnifiedDiff(shownPath, before, after, LIMITS);
  return diff === "" ? undefined : diff;
}
