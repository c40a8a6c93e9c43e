import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { addUserRule, readUserRules, removeUserRule } from "../../src/config/jsonc-edit.ts";
import type { PermissionRule } from "../../src/config/schema.ts";
import { makeConfigPlace, put } from "../support/config-place.ts";

const CURL: PermissionRule = { permission: "execute", pattern: "curl", action: "deny" };
const MAKE: PermissionRule = { permission: "execute", pattern: "make *", action: "allow" };
const MAKE_TEXT = '{ "permission": "execute", "pattern": "make *", "action": "allow" }';
const CURL_TEXT = '{ "permission": "execute", "pattern": "curl", "action": "deny" }';

function placeWith(content?: string) {
  const place = makeConfigPlace();
  if (content !== undefined) put(place.userFile, content);
  return { ...place, text: () => readFileSync(place.userFile, "utf8") };
}

/** The file after a rule was added to it. */
async function added(content: string | undefined, rule = MAKE): Promise<string> {
  const place = placeWith(content);
  await addUserRule(place.environment, rule);
  return place.text();
}

async function removed(content: string, index: number): Promise<string> {
  const place = placeWith(content);
  const { rules } = await readUserRules(place.environment);
  await removeUserRule(place.environment, index, rules[index] ?? CURL);
  return place.text();
}

describe("adding a rule", () => {
  test("creates a private file if there is none", async () => {
    const place = placeWith();
    const { path, rules } = await addUserRule(place.environment, MAKE);
    expect([path, rules]).toEqual([place.userFile, [MAKE]]);
    expect(place.text()).toBe(`{\n  "permissions": [\n    ${MAKE_TEXT}\n  ]\n}\n`);
    expect(statSync(place.userFile).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(place.userFile)).mode & 0o777).toBe(0o700);
  });

  test("appends it after the others, and comments stay in place", async () => {
    const before = `// mine\n{\n\t"model": "opus", // good\n\t"permissions": [\n\t\t// never\n\t\t${CURL_TEXT} // really\n\t],\n}\n`;
    expect(await added(before)).toBe(
      before.replace(`${CURL_TEXT} // really`, `${CURL_TEXT}, // really\n\t\t${MAKE_TEXT}`),
    );
  });

  test("keeps the layout of the file", async () => {
    expect(await added(`{"permissions": [${CURL_TEXT}]}`)).toBe(
      `{"permissions": [${CURL_TEXT}, ${MAKE_TEXT}]}`,
    );
    expect(await added('{ "model": "opus" }')).toBe(`{ "model": "opus", "permissions": [${MAKE_TEXT}] }`);
    expect(await added('{\r\n    "model": "opus" // good\r\n}\r\n')).toBe(
      `{\r\n    "model": "opus", // good\r\n    "permissions": [\r\n        ${MAKE_TEXT}\r\n    ]\r\n}\r\n`,
    );
    expect(await added('{\n  "permissions": [] // none\n}')).toBe(
      `{\n  "permissions": [\n    ${MAKE_TEXT}\n  ] // none\n}`,
    );
    expect(await added(`{\n  "permissions": [\n    ${CURL_TEXT}, /* x */\n    // end\n  ]\n}`)).toBe(
      `{\n  "permissions": [\n    ${CURL_TEXT}, /* x */\n    // end\n    ${MAKE_TEXT},\n  ]\n}`,
    );
  });

  test("keeps the byte order mark and variables as they are written", async () => {
    const before = '\ufeff{\n  "provider": { "anthropic": { "apiKey": "{env:KEY}" } }\n}\n';
    const after = await added(before);
    expect(after.startsWith('\ufeff{\n  "provider": { "anthropic": { "apiKey": "{env:KEY}" } },\n')).toBe(
      true,
    );
  });

  test("writes to the target of a link", async () => {
    const place = placeWith();
    const target = put(join(place.home, "dotfiles", "diligent.jsonc"), "{}\n");
    mkdirSync(dirname(place.userFile), { recursive: true });
    symlinkSync(target, place.userFile);
    await addUserRule(place.environment, MAKE);
    expect(readFileSync(target, "utf8")).toContain(MAKE_TEXT);
  });

  test("leaves a broken file unchanged", async () => {
    const broken = [
      ['{\n  "model": opus\n}', /diligent\.jsonc:2:12: Invalid JSON/],
      ['{\n  "modle": "opus"\n}', /diligent\.jsonc:2:3: key "modle"/],
      ['{"permissions": {}}', /1:17: key "permissions": must be a list/],
      ['{"permissions": [],\n"permissions": []}', /2:1: key "permissions": it is set more than once/],
      ["", /1:1: the file is empty/],
    ] as const;
    for (const [content, message] of broken) {
      const place = placeWith(content);
      await expect(addUserRule(place.environment, MAKE)).rejects.toThrow(message);
      expect(place.text()).toBe(content);
      expect(readdirSync(dirname(place.userFile))).toEqual(["diligent.jsonc"]);
    }
  });

  test("rejects an invalid rule", async () => {
    const place = placeWith("{}");
    await expect(addUserRule(place.environment, { ...MAKE, pattern: "" })).rejects.toThrow(
      /must not be empty/,
    );
    expect(place.text()).toBe("{}");
  });
});

describe("removing a rule", () => {
  test("removes its line and its comma, and no comment", async () => {
    const before = `{\n  "permissions": [\n    // first\n    ${CURL_TEXT}, // why\n    ${MAKE_TEXT} /* last */\n  ]\n}\n`;
    expect(await removed(before, 0)).toBe(
      `{\n  "permissions": [\n    // first\n    // why\n    ${MAKE_TEXT} /* last */\n  ]\n}\n`,
    );
    expect(await removed(before, 1)).toBe(
      `{\n  "permissions": [\n    // first\n    ${CURL_TEXT} // why\n    /* last */\n  ]\n}\n`,
    );
  });

  test("works for several rules on one line, and for a rule on several lines", async () => {
    expect(await removed(`{"permissions": [${CURL_TEXT}, ${MAKE_TEXT}]}`, 0)).toBe(
      `{"permissions": [${MAKE_TEXT}]}`,
    );
    expect(await removed(`{"permissions": [${CURL_TEXT}, ${MAKE_TEXT}]}`, 1)).toBe(
      `{"permissions": [${CURL_TEXT}]}`,
    );
    const spread = `{\n  "permissions": [\n    {\n      "permission": "execute",\n      "pattern": "curl",\n      "action": "deny",\n    },\n  ],\n}\n`;
    expect(await removed(spread, 0)).toBe('{\n  "permissions": [\n  ],\n}\n');
  });

  test("does nothing if another rule has taken its place", async () => {
    const place = placeWith(`{"permissions": [${MAKE_TEXT}]}`);
    await expect(removeUserRule(place.environment, 0, CURL)).rejects.toThrow(/has changed in the meantime/);
    await expect(removeUserRule(place.environment, 1, CURL)).rejects.toThrow(/has changed in the meantime/);
    expect(place.text()).toBe(`{"permissions": [${MAKE_TEXT}]}`);
  });
});

test("any sequence of additions and removals, in any layout, loses no comment and no setting", async () => {
  const blank = fc.constantFrom("", " ", "\n", "\n  ", " // c, ]\n", " /* d } */ ", "\r\n\t");
  const gaps = fc.array(blank, { minLength: 8, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(gaps, fc.boolean(), fc.nat({ max: 2 }), async (g, hasComma, index) => {
      const [a, b, c, d, e, f, x, y] = g;
      const list = `[${a}${CURL_TEXT}${b},${c}${MAKE_TEXT}${d},${e}${CURL_TEXT}${f}${hasComma ? "," : ""}${x}]`;
      const place = placeWith(`{${y}"permissions": ${list}${a}}`);
      const comments = place.text().match(/\/\/ c|\/\* d/g);
      await addUserRule(place.environment, { ...CURL, pattern: "new, ] // no comment" });
      const { rules } = await readUserRules(place.environment);
      const taken = rules[index];
      if (taken) await removeUserRule(place.environment, index, taken);
      expect(parse(place.text())).toEqual({ permissions: rules.toSpliced(index, 1) });
      expect(
        place
          .text()
          .replace(/"[^"]*"/g, "")
          .match(/\/\/ c|\/\* d/g),
      ).toEqual(comments);
    }),
    { numRuns: 60 },
  );
});
