/** A sequence for the terminal around tmux, which hands it on where `allow-passthrough` is on. */
export function throughTmux(sequence: string): string {
  return `\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`;
}
