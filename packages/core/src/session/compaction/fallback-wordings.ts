/** The fixed lines of a summary that is made by program; they hold no facts. */
export const WORDINGS = {
  constraints: "- They are in the user's own messages, which are kept beside this summary.",
  noRequest: "- (no request of the user's in this part)",
  noTool: "- (no tool was used in this part)",
  nothingSaid: "- (the agent said nothing in this part)",
  notBlocked: "- (unknown)",
  noDecisions: "- (not recorded)",
  nextSteps: "1. Go on with the latest request; look at the files first, this summary knows little of them.",
  madeBy: "- This summary was made by program, since no model gave one that could be used.",
  olderLeftOut: "- (older ones are left out, since there is no room for them)",
} as const;

/** The headings of such a summary in their order. */
export const HEADINGS = {
  goal: "## Goal",
  constraints: "## Constraints & Preferences",
  progress: "## Progress",
  done: "### Done",
  inProgress: "### In Progress",
  blocked: "### Blocked",
  decisions: "## Key Decisions",
  next: "## Next Steps",
  context: "## Critical Context",
  /** What summaries by program before it told, oldest first. */
  earlierSteps: "## Earlier Steps",
  /** The summary by a model before those. */
  earlierSummary: "## Earlier Summary",
} as const;
