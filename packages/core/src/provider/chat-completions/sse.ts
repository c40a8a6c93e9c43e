/** One server-sent event: its name, empty where it has none, and its data lines, joined. */
export interface ServerSentEvent {
  name: string;
  data: string;
}

/** The name of the event that a body comes out as when it is no stream of events: its data is the whole text. */
export const PLAIN_TEXT = "plain text";

// An answer that was asked to be streamed and comes in one piece; no answer of a model is as long.
const MAX_PLAIN_CHARS = 8 * 1024 * 1024;

/**
 * Parses a stream of server-sent events. Comments, unused fields and events without data are skipped. An event that
 * the body ends in the middle of is given too: what is missing of it may be no more than the blank line. An `error`
 * field, as some versions of llama.cpp's server send it, comes out as an event of that name.
 */
export async function* readServerSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const lines = readStreamLines(body);
  let event: ServerSentEvent | undefined;
  let isFirst = true;
  for await (const line of lines) {
    if (isFirst && isPlainText(line)) {
      yield { name: PLAIN_TEXT, data: await readText(line, lines) };
      return;
    }
    if (line !== "") {
      isFirst = false;
      event = addField(event, line);
    } else if (event) {
      if (event.data.trim() !== "") yield event;
      event = undefined;
    }
  }
  if (event && event.data.trim() !== "") yield event;
}

const FIELDS = ["data", "event", "id", "retry", "error"];

/** True for a line with which no stream begins: neither a field, known or not, nor one that was cut off. */
function isPlainText(line: string): boolean {
  const isField = /^[a-z_-]*:/.test(line) || FIELDS.some((field) => field.startsWith(line));
  return line.trim() !== "" && !isField;
}

async function readText(firstLine: string, lines: AsyncIterable<string>): Promise<string> {
  let text = firstLine;
  for await (const line of lines) {
    text += `\n${line}`;
    if (text.length > MAX_PLAIN_CHARS) break;
  }
  return text;
}

function addField(event: ServerSentEvent | undefined, line: string): ServerSentEvent | undefined {
  const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
  const { name, data } = event ?? { name: "", data: "" };
  if (field === "event") return { name: value, data };
  if (field !== "data" && field !== "error") return event;
  return { name: field === "error" ? field : name, data: data === "" ? value : `${data}\n${value}` };
}

/** Lines of a text, wherever its bytes are cut; they end in LF, CRLF or CR, the last one also in nothing. */
export async function* readStreamLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
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
