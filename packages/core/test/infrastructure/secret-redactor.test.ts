import { describe, expect, test } from "bun:test";
import {
  mayContainKey,
  RedactedPieces,
  SecretRedactor,
} from "../../src/infrastructure/text/secret-redactor.ts";

const KEY = "sk-ant-api03-Zq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sU";
const PASSWORD = 'p"a\\ss/w+rd 1';

function createRedactor(): SecretRedactor {
  return new SecretRedactor([
    { value: KEY, placeholder: "[key of anthropic]" },
    { value: PASSWORD, placeholder: "[value of DB_PASSWORD]" },
  ]);
}

describe("redact()", () => {
  test("replaces every occurrence of a secret and nothing else", () => {
    const text = `A=${KEY}\nB='${KEY}' C=${PASSWORD}; sk-ant-api03-other`;
    expect(createRedactor().redact(text)).toBe(
      "A=[key of anthropic]\nB='[key of anthropic]' C=[value of DB_PASSWORD]; sk-ant-api03-other",
    );
  });

  test("returns the same object if it contains no secret", () => {
    const data = { list: ["a", { b: "c" }], count: 1, nothing: null };
    expect(createRedactor().redact(data)).toBe(data);
  });

  test("replaces secrets in nested data and in its keys, and does not change the data itself", () => {
    const data: Record<string, unknown> = { [KEY]: [{ text: `x ${KEY}` }], count: 1 };
    expect(createRedactor().redact(data)).toEqual({
      "[key of anthropic]": [{ text: "x [key of anthropic]" }],
      count: 1,
    });
    expect(data[KEY]).toEqual([{ text: `x ${KEY}` }]);
  });

  test.each(["", "K=", "KE=", "ANTHROPIC_API_KEY="])(
    "replaces a secret in base64 after the prefix %j, wrapped lines included",
    (before) => {
      const encoded = Buffer.from(`${before}${KEY}\nPORT=3000\n`).toString("base64");
      const wrapped = encoded.replaceAll(/.{30}/g, "$&\n");
      for (const text of [encoded, encoded.replaceAll("+", "-").replaceAll("/", "_"), wrapped]) {
        const redacted = createRedactor().redact(text);
        expect(redacted).toContain("[key of anthropic]");
        const decoded = Buffer.from(redacted.replace("[key of anthropic]", ""), "base64").toString("latin1");
        for (let start = 0; start + 12 <= KEY.length; start++)
          expect(decoded).not.toContain(KEY.slice(start, start + 12));
      }
    },
  );

  test("replaces URL-encoded, hexadecimal and JSON forms", () => {
    const forms = [
      encodeURIComponent(PASSWORD),
      Buffer.from(PASSWORD).toString("hex"),
      JSON.stringify(PASSWORD),
    ];
    expect(forms.map((form) => createRedactor().redact(`<${form}>`))).toEqual([
      "<[value of DB_PASSWORD]>",
      "<[value of DB_PASSWORD]>",
      '<"[value of DB_PASSWORD]">',
    ]);
  });

  test("replaces the remaining part of a key that was cut at either end", () => {
    const redactor = createRedactor();
    expect(redactor.redact(`A=${KEY.slice(0, 30)}… and …${KEY.slice(9)}`)).toBe(
      "A=[key of anthropic]… and …[key of anthropic]",
    );
    expect(redactor.redact("the prefix is sk-ant-api03-")).toBe("the prefix is sk-ant-api03-");
  });

  test("replaces the lines of a secret of several lines", () => {
    const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
    const value = `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----`;
    const redactor = new SecretRedactor([{ value, placeholder: "[value of TLS_KEY]" }]);
    expect(redactor.redact(`  12\t${line}`)).toBe("  12\t[value of TLS_KEY]");
  });

  test("replaces a secret that is added later, also in data that was searched before", () => {
    const redactor = new SecretRedactor();
    const data = { text: KEY };
    expect(redactor.redact(data)).toBe(data);
    redactor.add({ value: KEY, placeholder: "[key of anthropic]" });
    expect(redactor.redact(data)).toEqual({ text: "[key of anthropic]" });
  });

  test("replaces the longer one of two overlapping secrets", () => {
    const redactor = new SecretRedactor([
      { value: "token-12345", placeholder: "[short]" },
      { value: "my-token-12345-long", placeholder: "[long]" },
    ]);
    expect(redactor.redact("my-token-12345-long token-12345")).toBe("[long] [short]");
  });
});

describe("RedactedPieces", () => {
  const text = `Your key is ${KEY}, and "s" is a letter: ${KEY.slice(0, 9)} ${PASSWORD}`;
  const expected = createRedactor().redact(text);

  test.each([1, 2, 3, 7, 20, 44, 1000])("returns the redacted text for pieces of %d", (size) => {
    const pieces = new RedactedPieces(createRedactor());
    let shown = "";
    for (let start = 0; start < text.length; start += size) {
      shown += pieces.push(text.slice(start, start + size));
      expect(expected.startsWith(shown)).toBe(true);
    }
    expect(shown + pieces.finish()).toBe(expected);
  });

  test("does not hold back text that cannot become a secret", () => {
    const pieces = new RedactedPieces(createRedactor());
    expect(pieces.push("Hello, what")).toBe("Hello, what");
    expect(pieces.push(" a nice key: sk-")).toBe(" a nice key: ");
    expect(pieces.push("proj")).toBe("sk-proj");
  });
});

test("redactPart() leaves out a possible beginning of a secret", () => {
  expect(createRedactor().redactPart(`A=${KEY} B=${KEY.slice(0, 12)}`)).toBe("A=[key of anthropic] B=");
});

test.each([
  'Find all "TODO" comments, please.',
  "IMPORTANT: don't refactor (internationally)",
  "fix 1234567 a-b-c",
  "日本語のテキストはここにあります",
  "",
])("mayContainKey() is false for words: %p", (text) => {
  expect(mayContainKey(text)).toBe(false);
});

test.each([
  "sk-local-9f8e7d6c5b4a",
  "is hunter22 it?",
  "camelCaseKey",
  "abcdefgh-ijklmnop",
  "abcdefghijklmnopqrstu",
  "日本語sk-test-abcdef",
])("mayContainKey() is true for what a key may look like: %p", (text) => {
  expect(mayContainKey(text)).toBe(true);
});
