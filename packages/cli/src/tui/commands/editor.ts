import type { SlashCommand } from "./types.ts";

/** `/editor`: the prompt goes on with what is saved there. @throws Error where no editor is set, or it failed. */
export const EDITOR: SlashCommand = {
  name: "editor",
  description: "Write the prompt in $VISUAL or $EDITOR",
  isAlwaysPossible: true,
  needsScreen: true,
  async run(_, context) {
    const { cwd, loaded } = await context.session();
    const { editExternally } = await import("../editor/external-editor.ts");
    const edited = await editExternally(context.prompt(), {
      ...context,
      cwd,
      root: loaded.projectRoot,
    });
    if ("error" in edited) throw new Error(edited.error);
    context.setPrompt(edited.text);
  },
};
