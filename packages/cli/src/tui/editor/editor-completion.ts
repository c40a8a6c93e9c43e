import type { AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import { getKeybindings } from "@earendil-works/pi-tui/dist/keybindings.js";
import { blankStandIns } from "./stand-in.ts";
import type { TextArea } from "./text-area.ts";
import type { TextHolder } from "./text-holder.ts";

/** The completion list of a text area, and what its keys mean while it is open. */
export class EditorCompletion {
  /** A completion is being taken with Enter, and it was what is written already. */
  private isConfirming = false;
  private wasComplete = false;

  constructor(
    private readonly area: TextArea,
    private readonly held: TextHolder,
  ) {}

  get isOpen(): boolean {
    return this.area.isShowingAutocomplete();
  }

  /** From now on the list is what this provider suggests. */
  offer(provider: AutocompleteProvider): void {
    const wrapped = wrapProvider(provider, this.held);
    this.area.setAutocompleteProvider({
      ...wrapped,
      applyCompletion: (lines, line, column, item, prefix) => {
        if (!this.isConfirming || item.value !== prefix)
          return wrapped.applyCompletion(lines, line, column, item, prefix);
        // A command's name is sent by pi-tui itself.
        this.wasComplete = !prefix.startsWith("/");
        return { lines, cursorLine: line, cursorCol: column };
      },
    });
  }

  /**
   * Gives the area a key. Enter on a completion that says what stands there already closes the list, and then does what it
   * does without one.
   */
  press(data: string): void {
    this.isConfirming = this.isOpen && getKeybindings().matches(data, "tui.select.confirm");
    this.wasComplete = false;
    this.area.handleInput(data);
    this.isConfirming = false;
    if (this.wasComplete && this.area.getText() !== "") this.area.handleInput(data);
  }
}

/**
 * A provider sees blanks where something stands in, and what it writes is held like everything else. One that fails offers
 * nothing: pi-tui would let its error end the program.
 */
function wrapProvider(provider: AutocompleteProvider, held: TextHolder): AutocompleteProvider {
  return {
    ...(provider.triggerCharacters && { triggerCharacters: provider.triggerCharacters }),
    getSuggestions: async (lines, line, column, options) => {
      try {
        return await provider.getSuggestions(lines.map(blankStandIns), line, column, options);
      } catch {
        return null; // The prompt can be written without it.
      }
    },
    applyCompletion: (lines, line, column, item, prefix) =>
      provider.applyCompletion(lines, line, column, { ...item, value: held.hold(item.value) }, prefix),
  };
}
