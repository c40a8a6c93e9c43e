import { z } from "zod";

/** `terminal`: what the screen tells beyond its own lines. */
export const TerminalSettingsSchema = z.strictObject({
  title: z
    .boolean()
    .optional()
    .describe("Show the project in the terminal's title, with a mark while a run goes on; true by default."),
  notify: z
    .enum(["auto", "bell", "off"])
    .optional()
    .describe(
      "What calls you back from another window when a long turn ends or a question waits: what the terminal is known to show, its bell, or nothing.",
    ),
});
