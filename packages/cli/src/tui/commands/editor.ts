import type { CommandContext, SlashCommand } from "./types.ts";

export const EDITOR: SlashCommand = {
  name: "editor",
  description: "Write the prompt in $VISUAL or $EDITOR",
  isAlwaysPossible: true,
  async run(_, context) {
    const { cwd, loaded } = await context.session();
    const { editExternally } = await import("../editor/external-editor.ts");
    const edited = await editExternally(context.prompt(), {
      environment: context.environment,
      cwd,
      root: loaded.projectRoot,
      ...lendBetween(context),
    });
    if ("error" in edited) throw new Error(edited.error);
    context.setPrompt(edited.text);
  },
};

/** The terminal is lent from `suspend` to `resume`, if the one is called at all. */
function lendBetween({ lendTerminal }: CommandContext) {
  const ended = Promise.withResolvers<void>();
  let lending: Promise<void> = Promise.resolve();
  return {
    suspend: () =>
      new Promise<void>((resolve) => {
        lending = lendTerminal(() => {
          resolve();
          return ended.promise;
        });
      }),
    resume() {
      ended.resolve();
      return lending;
    },
  };
}
