/** Lines of a text, wherever its bytes are cut; they end in LF, CRLF or CR, the last one also in nothing. */
export async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let endedInReturn = false;
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true });
    if (text === "") continue;
    // The second half of a CRLF that was cut in two ends no line of its own.
    if (endedInReturn && text.startsWith("\n")) text = text.slice(1);
    endedInReturn = text === "" ? false : text.endsWith("\r");
    const lines = text.split(/\r\n|\r|\n/);
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      yield pieces.join("") + line;
      pieces = [];
    }
    if (rest !== "") pieces.push(rest);
  }
  const last = pieces.join("") + decoder.decode();
  if (last !== "") yield last;
}
