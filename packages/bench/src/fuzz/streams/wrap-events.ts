import fc from "fast-check";

/** What may stand around the events of a stream without changing it. */
export interface Wrapping {
  lineEnd: "\n" | "\r\n";
  hasSpaceBehindColon: boolean;
  /** Splits the data of an event over two lines behind its first brace, where JSON has blanks. */
  hasSplitData: boolean;
  comments: boolean;
  unknownFields: boolean;
}

/** All that the format of server-sent events leaves open. */
export const anyWrapping: fc.Arbitrary<Wrapping> = fc.record({
  lineEnd: fc.constantFrom("\n" as const, "\r\n" as const),
  hasSpaceBehindColon: fc.boolean(),
  hasSplitData: fc.boolean(),
  comments: fc.boolean(),
  unknownFields: fc.boolean(),
});

/** @param body lines end with a line feed, and data stands on one line. */
export function wrapEvents(body: string, wrapping: Wrapping): string {
  const { lineEnd, comments, unknownFields } = wrapping;
  const events = body.split("\n\n").filter((event) => event !== "");
  return events
    .map((event) => {
      const lines = event.split("\n").flatMap((line) => wrapLine(line, wrapping));
      const before = comments ? [": keep-alive", ":", ""] : [];
      const within = unknownFields ? ["id: 7", "nobody-knows: it", "retry: 10"] : [];
      return [...before, ...within, ...lines].join(lineEnd) + lineEnd + lineEnd;
    })
    .join("");
}

function wrapLine(line: string, { hasSpaceBehindColon, hasSplitData }: Wrapping): string[] {
  const colon = hasSpaceBehindColon ? ": " : ":";
  const [, field = "", value = ""] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
  if (field === "data" && hasSplitData && value.startsWith("{"))
    return [`data${colon}{`, `data${colon}${value.slice(1)}`];
  return [`${field}${colon}${value}`];
}
