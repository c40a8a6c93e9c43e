import { existsSync } from "node:fs";
import { join } from "node:path";
import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

const FILES = ["CLAUDE.md", "AGENTS.md"] as const;
const DEFAULT_FILE = "AGENTS.md";

/** `/init`: sends a prompt that has the model write the project's instructions, or look over those that are there. */
export const INIT: SlashCommand = {
  name: "init",
  description: "Let the model write a CLAUDE.md or AGENTS.md",
  argumentHint: "[FILE]",
  async run(argument, context) {
    const wanted = FILES.find((file) => file.toLowerCase() === argument.toLowerCase());
    if (argument !== "" && wanted === undefined) {
      throw new Error(`/init writes ${FILES.join(" or ")}, not ${argument}.`);
    }
    const { loaded } = await context.session();
    const existing = FILES.find((file) => existsSync(join(loaded.projectRoot, file)));
    const file = wanted ?? existing ?? DEFAULT_FILE;
    const path = join(loaded.projectRoot, file);
    const isThere = existsSync(path);
    const { default: prompt } = await import("./init-prompt.md", { with: { type: "text" } });
    const { default: update } = await import("./init-update-prompt.md", { with: { type: "text" } });
    context.send(joinLines(isThere ? update : prompt).replaceAll("{path}", path));
    note(
      context,
      `${file} ${isThere ? "is there already and is looked over" : "is being written"}; /reload makes it count.`,
    );
  },
  complete: (prefix) => FILES.filter((file) => file.startsWith(prefix)),
};

/** Every paragraph and every item on a line of its own: where rows end is for the screen to say. */
function joinLines(text: string): string {
  return text.trim().replace(/(\S)[ \t]*\n[ \t]*(?=[^\s-])/g, "$1 ");
}
