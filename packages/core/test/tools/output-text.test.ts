import { describe, expect, test } from "bun:test";
import { ByteRing } from "../../src/infrastructure/process/byte-ring.ts";
import { headOfOutput, tailOf, toOutputText } from "../../src/tools/shell/output.ts";

test.each([
  ["colours go", "\u001b[31mred\u001b[0m", "red"],
  ["of a progress bar the last state stays", "get 10%\rget 50%\rget 100%\r\nend\r\n", "get 100%\nend\n"],
  ["a NUL can be seen", "a\0b", "a␀b"],
  ["bytes that are no UTF-8 do not disturb the rest", Buffer.from([0x61, 0xff, 0xc3, 0x62]), "a��b"],
])("%s", (_, given, expected) => {
  expect(toOutputText(Buffer.from(given))).toBe(expected);
});

describe("a head", () => {
  test("ends at a line end if that costs little", () => {
    expect(headOfOutput(Buffer.from("one\ntwo\nthree"), { maxBytes: 10, maxLines: 9 }).toString()).toBe(
      "one\ntwo\n",
    );
    expect(headOfOutput(Buffer.from("1\ntwotwotwo\nx"), { maxBytes: 9, maxLines: 9 }).toString()).toBe(
      "1\ntwotwot",
    );
  });

  test("has at most the given number of lines", () => {
    expect(headOfOutput(Buffer.from("1\n2\n3\n4"), { maxBytes: 99, maxLines: 2 }).toString()).toBe("1\n2\n");
  });

  test("is the whole text if it fits", () => {
    expect(headOfOutput(Buffer.from("1\n2\n3"), { maxBytes: 99, maxLines: 9 }).toString()).toBe("1\n2\n3");
  });

  test("does not split a character", () => {
    expect(headOfOutput(Buffer.from("aéé"), { maxBytes: 4, maxLines: 9 }).toString()).toBe("aé");
  });
});

describe("a tail", () => {
  test("begins at a line start if that costs little", () => {
    expect(tailOf(Buffer.from("one\ntwo\nthree\n"), { maxBytes: 11, maxLines: 9 }).toString()).toBe(
      "two\nthree\n",
    );
    expect(tailOf(Buffer.from("onetwo\nx"), { maxBytes: 5, maxLines: 9 }).toString()).toBe("two\nx");
  });

  test("has at most the given number of lines", () => {
    expect(tailOf(Buffer.from("1\n2\n3\n4\n"), { maxBytes: 99, maxLines: 2 }).toString()).toBe("3\n4\n");
    expect(tailOf(Buffer.from("1\n2\n3\n4"), { maxBytes: 99, maxLines: 2 }).toString()).toBe("3\n4");
    expect(tailOf(Buffer.from("1\n2"), { maxBytes: 99, maxLines: 9 }).toString()).toBe("1\n2");
  });

  test("does not split a character", () => {
    expect(tailOf(Buffer.from("ééa"), { maxBytes: 4, maxLines: 9 }).toString()).toBe("éa");
  });
});

test("a ring keeps the last bytes, in any pieces", () => {
  const ring = new ByteRing(5);
  const states = ["ab", "c", "", "defg", "0123456789", "xy"].map((text) => {
    ring.write(Buffer.from(text));
    return ring.read().toString();
  });
  expect(states).toEqual(["ab", "abc", "abc", "cdefg", "56789", "789xy"]);
  expect(ring.read(3).toString()).toBe("9xy");
});
