import fc from "fast-check";
import type { SessionMessageEntry } from "../../src/session/types.ts";
import { assistant, call, result, text, user } from "./messages.ts";
import { entry, entryId, header } from "./session-files.ts";

/** A session file as bytes, with the ids of the entries that its damage has left whole. */
export interface DamagedSession {
  bytes: Buffer;
  wholeIds: string[];
}

/** A conversation with words of many alphabets, structured arguments, and things that look like lines. */
export function talk(length: number): SessionMessageEntry[] {
  const messages = [
    user('grüße 🎉 {"type":"message","id":"00000000","parentId":null} \u2028 end'),
    assistant([text("日本語 }{"), call("a", "read", { type: "message", id: "x", parentId: null })]),
    result("a", `line\r\n\u0000 ${"x".repeat(50)}`),
    assistant([text("done")]),
  ];
  return Array.from({ length }, (_, index) => {
    const message = messages[index % messages.length] ?? user("never");
    return entry(entryId(index), index === 0 ? null : entryId(index - 1), message);
  });
}

type Damage = "whole" | "torn" | "zeros" | "bytes" | "other" | "unknown" | "twice" | "huge";

const LINE_END = fc.constantFrom("\n", "\n", "\r\n", "", "\n\n");

const damage = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Damage>("whole") },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Damage>("torn", "zeros", "bytes", "other", "unknown", "twice", "huge"),
  },
);

/** Sessions whose lines were torn, zeroed, doubled, welded together, given other ends or strange neighbours. */
export const damagedSession: fc.Arbitrary<DamagedSession> = fc
  .record({
    lines: fc.array(
      fc.record({ damage, end: LINE_END, at: fc.double({ min: 0.05, max: 0.95, noNaN: true }) }),
      {
        minLength: 2,
        maxLength: 14,
      },
    ),
    isHeaderWhole: fc.boolean(),
    hasMark: fc.boolean(),
  })
  .map(({ lines, isHeaderWhole, hasMark }) => {
    const entries = talk(lines.length);
    const headerLine = JSON.stringify(header());
    const first = isHeaderWhole ? headerLine : headerLine.slice(0, 20);
    const parts: Uint8Array[] = [Buffer.from(`${hasMark ? "\uFEFF" : ""}${first}\n`)];
    const wholeIds: string[] = [];
    for (const [index, { damage: kind, end, at }] of lines.entries()) {
      const each = entries[index];
      if (!each) continue;
      if (!["torn", "zeros", "bytes"].includes(kind)) wholeIds.push(each.id);
      parts.push(damageLine(each, kind, at), Buffer.from(end));
    }
    return { bytes: Buffer.concat(parts), wholeIds };
  });

function damageLine(each: SessionMessageEntry, kind: Damage, at: number): Buffer {
  const line = Buffer.from(JSON.stringify(each));
  const cut = Math.max(1, Math.floor(line.length * at));
  switch (kind) {
    case "whole":
      return line;
    case "torn":
      return line.subarray(0, cut);
    case "zeros":
      return Buffer.alloc(line.length);
    case "bytes":
      return Buffer.concat([
        line.subarray(0, cut),
        Buffer.from([0xff, 0x00, 0xc3, 0x0a]),
        line.subarray(cut),
      ]);
    case "twice":
      return Buffer.concat([line, Buffer.from("\n"), line]);
    case "other":
      return Buffer.concat([Buffer.from('{"type":"weather","sun":true}\n[1]\n7\nnull\n'), line]);
    case "unknown":
      return Buffer.from(`{"type":"hologram","id":"${each.id.replace("a", "b")}","parentId":null}\n${line}`);
    case "huge": {
      const output = "y".repeat(600_000);
      const huge = { ...entry(each.id, each.parentId, result("zz", output)), timestamp: each.timestamp };
      // A list counts such a line by its beginning, so it stands alone.
      return Buffer.from(`\n${JSON.stringify(huge)}\n`);
    }
  }
}
