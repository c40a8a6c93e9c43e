import { readPlaceholderLists } from "@diligent/core/run";
import type { SlashCommand } from "./types.ts";

/** `/secrets`: the secrets that were masked in this conversation, and where. */
export const SECRETS: SlashCommand = {
  name: "secrets",
  description: "Which secrets were masked in this conversation, and where",
  isAlwaysPossible: true,
  async run(_, { print, session }) {
    const { session: opened, loaded, redactor } = await session();
    const { describeMasked } = await import("../../session/masked-secrets.ts");
    const { path, entries } = opened.branches;
    // A session has no lists before its first turn has ended, and none from before they were saved.
    const lists = readPlaceholderLists(entries);
    const isIssued = (placeholder: string) =>
      !lists || lists.issued.has(placeholder) || redactor.shownPlaceholders.has(placeholder);
    print(describeMasked(path, { ...loaded.config.secrets, isIssued }).join("\n"));
  },
};
