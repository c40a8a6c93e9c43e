import type { UnifiedDiff } from "./edit/unified-diff.ts";

/**
 * Compares two texts by line, as a unified diff; see `createUnifiedDiff`. The implementation is loaded on first
 * use.
 */
export async function compareTexts(path: string, before: string, after: string): Promise<UnifiedDiff> {
  const { createUnifiedDiff } = await import("./edit/unified-diff.ts");
  return createUnifiedDiff(path, before, after);
}
