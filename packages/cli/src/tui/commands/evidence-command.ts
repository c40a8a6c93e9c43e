import type { SlashCommand } from "./types.ts";

/** `/evidence`: what was checked in each turn of this conversation, the last one at the end. */
export const EVIDENCE: SlashCommand = {
  name: "evidence",
  description: "Which checks ran, what they said, and whether they still hold",
  isAlwaysPossible: true,
  async run(_, { print, session }) {
    const opened = await session();
    const { describeEvidenceOf } = await import("../../evidence/session-evidence.ts");
    print(describeEvidenceOf(opened.session.customEntries("evidence")).join("\n"));
  },
};
