import fc from "fast-check";

/** One thing that a bad disk, an editor or a program that was cut off does to a file. Places are shares of its length. */
export interface Damage {
  kind: "cut" | "overwrite" | "insert" | "remove" | "zeros" | "repeat";
  at: number;
  length: number;
  bytes: Uint8Array;
}

/** One to four damages, among them pieces of JSON, which are harder to tell from what belongs there. */
export const anyDamage: fc.Arbitrary<readonly Damage[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("cut", "overwrite", "overwrite", "insert", "remove", "zeros", "repeat"),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 60 }),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 6 }),
      fc.constantFrom("\n", "{", "}", '"', "]", ",", "null", "\u0000", '{"id":7}\n').map(toBytes),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

/** The bytes with all of it done to them, the first `kept` of them aside. */
export function applyDamage(whole: Uint8Array, damages: readonly Damage[], kept = 0): Uint8Array {
  const head = whole.subarray(0, kept);
  const rest = damages.reduce(damageOnce, Buffer.from(whole.subarray(kept)));
  return Buffer.concat([head, rest]);
}

function damageOnce(whole: Buffer, { kind, at, length, bytes }: Damage): Buffer {
  const start = Math.floor(at * whole.length);
  const [before, touched, after] = [
    whole.subarray(0, start),
    whole.subarray(start, start + length),
    whole.subarray(start + length),
  ];
  switch (kind) {
    case "cut":
      return before;
    case "overwrite":
      return Buffer.concat([before, bytes, whole.subarray(start + bytes.length)]);
    case "insert":
      return Buffer.concat([before, bytes, whole.subarray(start)]);
    case "remove":
      return Buffer.concat([before, after]);
    case "zeros":
      return Buffer.concat([before, Buffer.alloc(touched.length), after]);
    case "repeat":
      return Buffer.concat([before, touched, touched, after]);
  }
}

function toBytes(text: string): Uint8Array {
  return Buffer.from(text);
}
