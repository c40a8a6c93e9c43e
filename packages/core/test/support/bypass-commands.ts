import { BYPASSES_BY_OPTION } from "./bypass-options.ts";
import { BYPASSES_BY_PROGRAM } from "./bypass-programs.ts";
import { BYPASSES_BY_SYNTAX } from "./bypass-syntax.ts";

/** Allow rules as people write them; none of the bypasses may pass with them. */
export const BYPASS_ALLOW_PATTERNS: readonly string[] = [
  "npm test",
  "npm run lint",
  "npm run build *",
  "git status",
  "git log --oneline -?",
  "ls *",
  "echo *",
  "cat src/main.ts",
  "make",
];

/**
 * Ways that command readers were, or could be, talked into letting something through. Every one has to ask, in a hostile
 * project as `createEverydayProject` makes it.
 */
export const BYPASS_COMMANDS: readonly string[] = [
  ...BYPASSES_BY_SYNTAX,
  ...BYPASSES_BY_PROGRAM,
  ...BYPASSES_BY_OPTION,
];
