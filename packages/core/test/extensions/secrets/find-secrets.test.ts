import { describe, expect, test } from "bun:test";
import { countOpen, findSecrets, kindOf } from "../../../src/extensions/secrets/find-secrets.ts";

/** The texts in which a secret was found, with their kinds. */
const found = (text: string) =>
  findSecrets(text).map(({ start, end, kind }) => [kind, text.slice(start, end)] as const);

// Joined, so that no scanner takes this file for one with a real key.
const join = (...parts: string[]) => parts.join("");
const GITHUB = join("ghp", "_u7Vb2Nw9Xc4Zq1LsT6yR8eW3qA5sD0fGh2Jk");
const STRIPE = join("sk", "_live_", "9fKx2LmQ7rTzV4bNc8WpYs3D");
const AWS_SECRET = "wJ4lrXUt9FEMI+K7MDENG/bPxRfiCY1hQzN5vB8c";

describe("findSecrets()", () => {
  test.each([
    ["alone", GITHUB],
    ["in quotes", `const token = "${GITHUB}";`],
    ["in escaped JSON", JSON.stringify(JSON.stringify(`a\n${GITHUB}\n`))],
    ["after an encoded sign of an address", `https://host.example/?q%3D${GITHUB}&x=1`],
    ["in a path", `logs/${GITHUB}.txt`],
    ["beside text that is not ASCII", `Schlüssel：${GITHUB}。`],
  ])("finds a token %s", (_, text) => {
    expect(found(text)).toEqual([["github-token", GITHUB]]);
  });

  test("finds several tokens in order", () => {
    expect(found(`${STRIPE} ${GITHUB}\n${STRIPE}`).map(([kind]) => kind)).toEqual([
      "stripe-key",
      "github-token",
      "stripe-key",
    ]);
  });

  test.each([
    [`aws_secret_access_key = ${AWS_SECRET}`, AWS_SECRET],
    [`"clientSecret": "${AWS_SECRET}"`, AWS_SECRET],
    [`<api-key>${AWS_SECRET}</api-key>`, AWS_SECRET],
    [`run --auth-token ${AWS_SECRET} --verbose`, AWS_SECRET],
    [`Authorization: Bearer ${AWS_SECRET}`, AWS_SECRET],
    ["DB_PASSWORD='kR7#pq2!Zx'", "kR7#pq2!Zx"],
    ["postgres://app:kR7pq2Zx9@db.example/app", "kR7pq2Zx9"],
  ])("finds the value in %j", (text, value) => {
    expect(found(text)).toEqual([["value", value]]);
  });

  test.each([
    "password: string;",
    'password: "password"',
    "token = getToken(request.headers)",
    "apiKey: process.env.OPENAI_API_KEY,",
    "const tokenCount = 123456789012345678;",
    'cacheKey: "user-settings-panel-collapsed-state"',
    'passwordField: "current-password-input"',
    "postgres://user:password@localhost/db",
    'integrity "sha512-Zq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sUZq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sU=="',
    "commit 3f9a2c71d5e8b40c6a7f91e2d3c4b5a697887766",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk_live_KEY or sk-your-key",
    "password=[value of DB_PASSWORD] token=[secret github-token 3f9a2c71]",
    "",
  ])("finds nothing in %j", (text) => {
    expect(found(text)).toEqual([]);
  });

  test("finds a token inside of a text in base64, also on several lines", () => {
    const encoded = Buffer.from(`# settings\nTOKEN=${GITHUB}\nPORT=3000\nHOST=localhost\n`).toString(
      "base64",
    );
    const wrapped = encoded.replaceAll(/.{40}/g, "$&\n");
    expect(found(`data: ${encoded}`)).toEqual([["encoded-secret", encoded]]);
    expect(found(`data:\n${wrapped}\n`)).toEqual([["encoded-secret", wrapped]]);
  });

  test("finds each line of a private key, also between numbers of lines", () => {
    const lines = [1, 2, 3].map((each) =>
      Buffer.from(`${each}${AWS_SECRET}-and-${AWS_SECRET}`).toString("base64").slice(0, 64),
    );
    const key = ["-----BEGIN RSA PRIVATE KEY-----", ...lines, "Qx==", "-----END RSA PRIVATE KEY-----"];
    const expected = [...lines, "Qx=="].map((line) => ["private-key", line] as const);
    expect(found(key.join("\n"))).toEqual(expected);
    expect(found(JSON.stringify(key.join("\n")))).toEqual(expected);
    expect(found(key.map((line, index) => `${index + 1}\t${line}`).join("\n"))).toEqual(expected);
  });

  test("takes no longer than a text is long, whatever is in it", () => {
    const texts = [
      "=",
      ":",
      "-",
      "--",
      "eyJ",
      "a.",
      "sk-",
      "password=",
      '"',
      "-----BEGIN PRIVATE KEY-----\n",
      "A+/",
      "://a:",
    ];
    for (const text of texts) {
      const long = text.repeat(200_000 / text.length);
      const startedAt = performance.now();
      findSecrets(long);
      expect([text, performance.now() - startedAt < 3_000]).toEqual([text, true]);
    }
  });
});

test("kindOf() depends on the value alone", () => {
  expect([GITHUB, STRIPE, AWS_SECRET, "kR7#pq2!Zx"].map(kindOf)).toEqual([
    "github-token",
    "stripe-key",
    "value",
    "value",
  ]);
});

describe("countOpen()", () => {
  test.each([
    ["Your token is gh", "gh"],
    [`Your token is ${GITHUB.slice(0, 12)}`, GITHUB.slice(0, 12)],
    ["secret_key = wJ4lr", "wJ4lr"],
    ["Done. It works", ""],
    [`token ${GITHUB} `, ""],
  ])("of %j is the possible beginning of a secret", (text, expected) => {
    expect(text.slice(text.length - countOpen(text))).toBe(expected);
  });

  test("is at most 200", () => {
    expect(countOpen(`token=${"aB3".repeat(400)}`)).toBe(200);
  });
});
