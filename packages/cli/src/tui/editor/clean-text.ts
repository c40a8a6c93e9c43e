/**
 * A text as it may stand in a prompt: line ends are LF, of the other control characters only tabs stay, and halves of a
 * character become U+FFFD. Characters that are merely invisible stay.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/(?![\n\t])\p{Cc}/gu, "");
}

/**
 * What a terminal sent between the marks of a paste, as the text that was pasted. Some popups of tmux send control
 * characters within a paste as keys (`CSI 106 ; 5 u` for a line feed); escape sequences lose their escape character and
 * stay as text.
 */
export function cleanPaste(data: string): string {
  const decoded = data.replace(CONTROL_KEY, (sequence: string, code: string) => {
    const letter = Number(code) | 0x20;
    return letter >= 0x61 && letter <= 0x7a ? String.fromCharCode(letter - 0x60) : sequence;
  });
  return cleanText(decoded);
}

const CONTROL_KEY = new RegExp(`${"\x1b"}\\[(\\d{1,3});5u`, "g");
