import type { CommandContext } from "../commands/types.ts";
import { note } from "../commands/types.ts";
import type { Picker } from "./picker.ts";
import { sessionsPicker } from "./sessions.ts";

/**
 * Opens the list of sessions before the first prompt, and resolves when it is closed.
 * @returns false if there were sessions and none was opened.
 */
export async function chooseSession(context: CommandContext): Promise<boolean> {
  const picker = await sessionsPicker(context);
  if (!picker) {
    note(context, "No sessions in this project yet.");
    return true;
  }
  const chosen = Promise.withResolvers<boolean>();
  context.open(reportingPicker(picker, chosen.resolve));
  return chosen.promise;
}

/** The same list, which reports how it was closed. */
function reportingPicker(picker: Picker, closed: (hasOpened: boolean) => void): Picker {
  return {
    dialog: picker.dialog,
    onOpened: () => picker.onOpened?.(),
    async choose(id) {
      try {
        await picker.choose(id);
        closed(true);
      } finally {
        // Counts only if it could not be opened.
        closed(false);
      }
    },
    pressKey: (action, id) => picker.pressKey?.(action, id),
    confirm: (id) => picker.confirm?.(id),
    submit: (text, id) => picker.submit?.(text, id),
    close() {
      picker.close?.();
      closed(false);
    },
  };
}
