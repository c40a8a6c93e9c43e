import type { UnifiedDiff } from "./edit/unified-diff.ts";

/** Two texts by line, as a unified diff; see `createUnifiedDiff`. What makes it is loaded with the first one. */
export async function compareTexts(path: string, before: string, after: string): Promise<UnifiedDiff> {
  const { createUnifiedDiff } = await import("./edit/unified-diff.ts");
  return createUnifiedDiff(path, before, after);
}
