import { describe, expect, test } from "bun:test";
import { decodeUtf8, encodeUtf8, guessEncoding } from "../../src/infrastructure/text/text-file.ts";

describe("UTF-8", () => {
  test("text survives a round trip byte for byte, with and without a byte order mark", () => {
    for (const text of ["", "a\r\nb\rc\n", "\ufeff", "\ufeffä😀", "a\ufeffb", "\ufffd", "\ufeff\ufeffx"]) {
      const bytes = Buffer.from(text);
      expect(Buffer.from(encodeUtf8(decodeUtf8(bytes))).equals(bytes)).toBe(true);
    }
    expect(decodeUtf8(Buffer.from("\ufeffx"))).toEqual({ text: "x", hasByteOrderMark: true });
  });

  test("invalid UTF-8 is rejected with its position", () => {
    const places: [number[], string][] = [
      [[0x61, 0x0a, 0xff], "byte 0xFF at offset 2, line 2"],
      [[0xc3, 0xa9, 0x80], "byte 0x80 at offset 2, line 1"],
      [[0x61, 0xe9, 0x20], "byte 0xE9 at offset 1, line 1"],
      [[0x61, 0xed, 0xa0, 0x80], "byte 0xED at offset 1, line 1"],
      [[0x61, 0xc0, 0xaf], "byte 0xC0 at offset 1, line 1"],
    ];
    for (const [bytes, place] of places) expect(() => decodeUtf8(Uint8Array.from(bytes))).toThrow(place);
  });

  test("a NUL is binary", () => {
    expect(() => decodeUtf8(Buffer.from("a\0b"))).toThrow("binary data");
  });
});

describe("guessing the encoding", () => {
  const named = (name: string, iconvName: string) => ({ kind: "text" as const, name, iconvName });
  const hex = (digits: string) => Buffer.from(digits.replaceAll(" ", ""), "hex");

  test("recognizes encodings by their byte order marks and zero bytes", () => {
    expect(guessEncoding(hex("fffe6100"))).toEqual(named("UTF-16LE", "UTF-16LE"));
    expect(guessEncoding(hex("feff0061"))).toEqual(named("UTF-16BE", "UTF-16BE"));
    expect(guessEncoding(hex("fffe000061000000"))).toEqual(named("UTF-32LE", "UTF-32LE"));
    expect(guessEncoding(Buffer.from("words in it", "utf16le").swap16())).toEqual(
      named("UTF-16BE", "UTF-16BE"),
    );
    expect(guessEncoding(hex("00010203000000ff00"))).toEqual({ kind: "binary" });
  });

  test("recognizes Asian encodings by their characters", () => {
    // "こんにちは" and "안녕하세요" and "你好世界".
    expect(guessEncoding(hex("82b1 82f1 82c9 82bf 82cd"))).toEqual(named("Shift-JIS", "SHIFT_JIS"));
    expect(guessEncoding(hex("a4b3 a4f3 a4cb a4c1 a4cf"))).toEqual(named("EUC-JP", "EUC-JP"));
    expect(guessEncoding(hex("bec8 b3e7 c7cf bcbc bfe4"))).toEqual(named("EUC-KR", "CP949"));
    expect(guessEncoding(hex("c4e3 bac3 cac0 bde7"))).toEqual(named("GB18030", "GB18030"));
  });

  test("treats scattered high bytes as an 8-bit encoding, and as damage if UTF-8 prevails", () => {
    const eightBit = named("Latin-1 or another 8-bit encoding", "ISO-8859-1");
    expect(guessEncoding(Buffer.from("caf\xe9 fran\xe7ais, na\xefve \xe9t\xe9", "latin1"))).toEqual(eightBit);
    expect(guessEncoding(Buffer.concat([Buffer.from("größer schöner "), hex("fc")]))).toEqual({
      kind: "damaged",
    });
  });
});
