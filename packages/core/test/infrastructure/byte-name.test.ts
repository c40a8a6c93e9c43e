import { expect, test } from "bun:test";
import { fromNameBytes, toSystemPath } from "../../src/infrastructure/fs/stat.ts";

test("a valid text name is unchanged, and also a path for the system", () => {
  for (const name of ["a", "ü", "\u{1f600}", "a\nb", "\ufffd", ""]) {
    expect(fromNameBytes(Buffer.from(name))).toBe(name);
    expect(toSystemPath(name)).toBe(name);
  }
});

test("every sequence of bytes has a unique string that survives JSON and converts back", () => {
  const seen = new Set<string>();
  const some = [0x41, 0x80, 0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xed, 0xb2, 0xf0, 0xff];
  for (const first of some)
    for (const second of some)
      for (const third of some)
        for (const fourth of some) {
          const bytes = Buffer.of(first, second, third, fourth);
          const name = fromNameBytes(bytes);
          seen.add(name);
          const kept: string = JSON.parse(JSON.stringify(name));
          expect(Buffer.from(toSystemPath(kept)).equals(bytes)).toBe(true);
        }
  expect(seen.size).toBe(some.length ** 4);
});
