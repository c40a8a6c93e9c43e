import type { SlashCommand } from "./types.ts";

/** `/trust`: says what trust would make active, and asks; the answer counts at once. */
export const TRUST: SlashCommand = {
  name: "trust",
  description: "Let this project's configuration act, or not",
  opensList: true,
  async run(_, context) {
    const { askForTrust } = await import("../pickers/trust.ts");
    await askForTrust(context);
  },
};
