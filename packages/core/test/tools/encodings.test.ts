import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

/** Bytes of two lines, what is replaced in the first one, and the bytes that it becomes. */
const SAMPLES: [
  encoding: string,
  text: string,
  bytes: Uint8Array,
  find: string,
  put: string,
  changed: number[],
][] = [
  ["ISO-8859-1", "café", Buffer.from("café\nna\u00efve\n", "latin1"), "café", "thé", [0x74, 0x68, 0xe9]],
  [
    "windows-1252",
    "“a” – 5 €",
    Uint8Array.of(0x93, 0x61, 0x94, 0x20, 0x96, 0x20, 0x35, 0x20, 0x80, 0x0a, 0x85, 0x0a),
    "5 €",
    "6 €…",
    [0x93, 0x61, 0x94, 0x20, 0x96, 0x20, 0x36, 0x20, 0x80, 0x85],
  ],
  [
    "SHIFT_JIS",
    "こんにちは",
    Uint8Array.of(0x82, 0xb1, 0x82, 0xf1, 0x82, 0xc9, 0x82, 0xbf, 0x82, 0xcd, 0x0a, 0x82, 0xa0, 0x0a),
    "にちは",
    "ばんは",
    [0x82, 0xb1, 0x82, 0xf1, 0x82, 0xce, 0x82, 0xf1, 0x82, 0xcd],
  ],
  [
    "EUC-JP",
    "こんにちは",
    Uint8Array.of(0xa4, 0xb3, 0xa4, 0xf3, 0xa4, 0xcb, 0xa4, 0xc1, 0xa4, 0xcf, 0x0a, 0xa4, 0xa2, 0x0a),
    "ちは",
    "は",
    [0xa4, 0xb3, 0xa4, 0xf3, 0xa4, 0xcb, 0xa4, 0xcf],
  ],
  [
    "CP949",
    "한국어",
    Uint8Array.of(0xc7, 0xd1, 0xb1, 0xb9, 0xbe, 0xee, 0x0a),
    "국",
    "",
    [0xc7, 0xd1, 0xbe, 0xee],
  ],
  [
    "GB18030",
    "中文文件",
    Uint8Array.of(0xd6, 0xd0, 0xce, 0xc4, 0xce, 0xc4, 0xbc, 0xfe, 0x0a),
    "文件",
    "文",
    [0xd6, 0xd0, 0xce, 0xc4, 0xce, 0xc4],
  ],
];

describe.each(SAMPLES)("a file in %s", (encoding, text, bytes, find, put, changed) => {
  test("is read as text, and its encoding is named", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", bytes);
    const { output } = await files.read({ file_path: "a.txt" });
    expect(output).toStartWith(`1\t${text}\n`);
    expect(output).toContain(`(The encoding is ${encoding}, detected from its bytes;`);
    expect(output).not.toContain("\ufffd");
  });

  test("is edited byte by byte: only the changed text differs", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", bytes);
    await files.readAndEdit("a.txt", find, put);
    const rest = bytes.subarray(bytes.indexOf(0x0a));
    expect([...files.bytes("a.txt")]).toEqual([...changed, ...rest]);
  });

  test("is overwritten in its encoding", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", bytes);
    await files.read({ file_path: "a.txt" });
    await files.write({ file_path: "a.txt", content: `new\n${text}\n` });
    const [first = []] = [[...bytes.subarray(0, bytes.indexOf(0x0a))]];
    expect([...files.bytes("a.txt")]).toEqual([...Buffer.from("new\n"), ...first, 0x0a]);
  });

  test("takes no character that the encoding lacks, if there is one", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", bytes);
    const lacks = encoding !== "GB18030";
    const message = await files.readAndEdit("a.txt", find, "😀").then(() => "done", String);
    if (lacks) {
      expect(message).toContain(
        `"😀" (U+1F600, line 1) does not exist in ${encoding}, the encoding of the file`,
      );
      expect(files.bytes("a.txt").equals(bytes)).toBe(true);
    } else expect(message).toBe("done");
  });
});

describe("a file in UTF-16", () => {
  test("keeps its byte order and mark", async () => {
    const files = makeFileWorkspace();
    files.put("le.txt", utf16("ä😀\r\nb\r\n"));
    await files.readAndEdit("le.txt", "b", "ü\nc");
    expect(files.bytes("le.txt").equals(utf16("ä😀\r\nü\r\nc\r\n"))).toBe(true);
    files.put("be.txt", utf16("ä\nb").swap16());
    await files.readAndEdit("be.txt", "b", "€");
    expect(files.bytes("be.txt").equals(utf16("ä\n€").swap16())).toBe(true);
  });

  test("without a mark is detected and stays without one", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", Buffer.from("plain text\n", "utf16le"));
    await files.readAndEdit("a.txt", "plain", "other");
    expect(files.bytes("a.txt").equals(Buffer.from("other text\n", "utf16le"))).toBe(true);
  });

  test("that ends within a character is refused with the reason", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", Buffer.concat([utf16("one\n"), Buffer.of(0x61)]));
    expect(await failure(files.read({ file_path: "a.txt" }))).toContain("It is not valid UTF-16LE");
  });
});

describe("bytes that are not valid", () => {
  const stray = [...Buffer.from("grüße über\nschön "), 0x80, ...Buffer.from("\nende\n")];

  test("in UTF-8 are shown as such and survive changes of other lines", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", Uint8Array.from(stray));
    const { output } = await files.read({ file_path: "a.txt" });
    expect(output).toContain(
      "3\tende\n(It is UTF-8 text with a damaged character (byte 0x80 at offset 21, line 2).)",
    );
    expect(output).toContain(
      "(\ufffd stands for bytes that are not valid UTF-8; lines with it cannot be changed.)",
    );
    await files.edit({ file_path: "a.txt", old_string: "ende\n", new_string: "Ende €\n\n" });
    await files.edit({ file_path: "a.txt", old_string: "grüße", new_string: "Grüße" });
    expect([...files.bytes("a.txt")]).toEqual([
      ...Buffer.from("Grüße über\nschön "),
      0x80,
      ...Buffer.from("\nEnde €\n\n"),
    ]);
  });

  test("are not changed together with their line", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", Uint8Array.from(stray));
    const message = await failure(files.readAndEdit("a.txt", "schön", "Schön"));
    expect(message).toContain("line 2 would contain bytes that are not valid UTF-8");
    expect([...files.bytes("a.txt")]).toEqual(stray);
  });

  test("in Shift_JIS at the end of a line do not take the line end along", async () => {
    const files = makeFileWorkspace();
    const bytes = [0x82, 0xb1, 0x82, 0xf1, 0x81, 0x0a, 0x82, 0xcd, 0x0a];
    files.put("a.txt", Uint8Array.from(bytes));
    await files.read({ file_path: "a.txt", encoding: "Shift_JIS" });
    await files.edit({ file_path: "a.txt", old_string: "は", new_string: "a" });
    expect([...files.bytes("a.txt")]).toEqual([...bytes.slice(0, 6), 0x61, 0x0a]);
  });
});

describe("the encoding that a call names", () => {
  // "Привет" in windows-1251.
  const russian = Uint8Array.of(0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x0a);

  test("replaces the detected one, also for later calls without it", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", russian);
    expect((await files.read({ file_path: "a.txt" })).output).toContain("give encoding if that is wrong");
    const { output } = await files.read({ file_path: "a.txt", encoding: "windows-1251" });
    expect(output).toStartWith("1\tПривет\n(The encoding is windows-1251, as given.");
    expect((await files.read({ file_path: "a.txt" })).output).toStartWith("1\tПривет");
    await files.edit({ file_path: "a.txt", old_string: "вет", new_string: "мер" });
    expect([...files.bytes("a.txt")]).toEqual([0xcf, 0xf0, 0xe8, 0xec, 0xe5, 0xf0, 0x0a]);
  });

  test.each(["klingon", "", "base64", "hex", "utf-7", "constructor", "x".repeat(10_000)])(
    "%p is refused with names that are known",
    async (encoding) => {
      const files = makeFileWorkspace();
      files.put("a.txt", russian);
      const message = await failure(files.read({ file_path: "a.txt", encoding }));
      expect(message).toStartWith(
        `Unknown encoding "${encoding.slice(0, 40)}". Give a name such as ISO-8859-1`,
      );
    },
  );

  test("that does not fit the bytes is refused with the reason", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", russian);
    const message = await failure(files.read({ file_path: "a.txt", encoding: "utf-16" }));
    expect(message).toContain("as UTF-16LE. It is not valid UTF-16LE");
  });

  test("may be that of a UTF-8 file", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "\ufeffcafé\n");
    await files.read({ file_path: "a.txt", encoding: "UTF-8" });
    await files.edit({ file_path: "a.txt", old_string: "café", new_string: "thé" });
    expect(files.text("a.txt")).toBe("\ufeffthé\n");
  });
});

test("the whole file is decoded alike, however far the first such byte is from the lines that are read", async () => {
  const files = makeFileWorkspace();
  const lines = "wort\n".repeat(100_000);
  files.put("a.txt", Buffer.concat([Buffer.from(lines), Buffer.of(0xe9), Buffer.from(" end\n")]));
  expect((await files.read({ file_path: "a.txt", limit: 1 })).output).toContain("The encoding is ISO-8859-1");
  await files.edit({ file_path: "a.txt", old_string: "end", new_string: "là" });
  const after = Buffer.concat([Buffer.from(lines), Buffer.from("é là\n", "latin1")]);
  expect(files.bytes("a.txt").equals(after)).toBe(true);
});

test("a file that gets another encoding after it was read has to be read again", async () => {
  const files = makeFileWorkspace();
  files.put("a.txt", "café\n");
  await files.read({ file_path: "a.txt" });
  writeFileSync(files.at("a.txt"), Buffer.from("café\n", "latin1"));
  const edit = { file_path: "a.txt", old_string: "caf", new_string: "th" };
  expect(await failure(files.edit(edit))).toContain("has changed on disk since it was read");
  await files.read({ file_path: "a.txt" });
  await files.edit(edit);
  expect(files.bytes("a.txt").toString("latin1")).toBe("thé\n");
});

test("a file in another encoding that was not read is not changed", async () => {
  const files = makeFileWorkspace();
  files.put("a.txt", Buffer.from("café\n", "latin1"));
  const edit = files.edit({ file_path: "a.txt", old_string: "caf", new_string: "th" });
  expect(await failure(edit)).toContain("Read it first");
});
