import { describe, expect, test } from "bun:test";
import { complaintAbout } from "../support/config-complaint.ts";

describe("a broken file is rejected with the position:", () => {
  test.each([
    ["", "F:1:1: the file is empty; a configuration without settings is {}"],
    [" // nothing\n", "F:1:1: the file is empty; a configuration without settings is {}"],
    ['{\n  "model": "a"\n  "maxTurns": 3\n}', "F:3:3: expected a comma"],
    ['{"model": }', "F:1:11: expected a value"],
    ['{"model" "a"}', "F:1:10: expected a colon"],
    ['{\n"maxTurns": 1', "F:2:14: missing closing }"],
    ['{"instructions": ["a"', "F:1:22: missing closing ]"],
    ['{"model": "a\n}', "F:1:11: this string has no closing double quote"],
    ["{'model': 1}", "F:1:2: Invalid JSON: keys and strings must be double-quoted"],
    ["{} {}", "F:1:4: unexpected text after the end"],
    ["/* never ends", "F:1:1: unterminated comment"],
    ["[]", "F:1:1: expected an object in { }"],
    ['\n  "text"', "F:2:3: expected an object in { }"],
    ["<<<<<<< HEAD\n{}", "F:1:1: Invalid JSON: keys and strings must be double-quoted"],
    ['{"model": "\\q"}', "F:1:11: this string contains an unknown escape after \\"],
  ])("%p", (text, complaint) => {
    expect(complaintAbout(text)).toBe(complaint);
  });
});

test("a text of brackets only is rejected without being read to its end", () => {
  expect(complaintAbout(`{"models": ${"[".repeat(100_000)}`)).toBe("F:1:43: nested deeper than 32 levels");
});

describe("an invalid setting is rejected with its position, its name and the reason:", () => {
  test.each([
    ['{\n  "modle": "a"\n}', 'F:2:3: key "modle": there is no such setting; did you mean "model"?'],
    [
      '{"apiKey": "a"}',
      'F:1:2: key "apiKey": there is no such setting here; did you mean "provider.anthropic.apiKey" or "provider.openai.apiKey"?',
    ],
    [
      '{"session": {"zzzzzz": 1}}',
      'F:1:14: key "session.zzzzzz": there is no such setting; known settings here: autoResume',
    ],
    ['{"maxTurns": "3"}', 'F:1:14: key "maxTurns": must be a number'],
    ['{"maxTurns": 1.5}', 'F:1:14: key "maxTurns": must be a whole number'],
    ['{"maxTurns": 0}', 'F:1:14: key "maxTurns": must be above 0'],
    ['{"maxRetries": -1}', 'F:1:16: key "maxRetries": must be at least 0'],
    ['{"maxTurns": 1e300}', 'F:1:14: key "maxTurns": must be at most 9007199254740991'],
    ['{"model": null}', 'F:1:11: key "model": must be a text in double quotes'],
    ['{"model": ""}', 'F:1:11: key "model": must not be empty'],
    ['{"session": []}', 'F:1:13: key "session": must be an object in { }'],
    ['{"instructions": "a"}', 'F:1:18: key "instructions": must be a list in [ ]'],
    [
      '{"approval": "akk"}',
      'F:1:14: key "approval": must be one of "ask", "accept-edits", "plan", "auto", "deny"; did you mean "ask"?',
    ],
    ['{"sandbox": true}', 'F:1:13: key "sandbox": must be one of "auto", "required", "off"'],
    ['{"sandboxNetwork": "packages"}', 'F:1:20: key "sandboxNetwork": must be one of "off", "on"'],
    [
      '{"sandboxNetwork": {"allow": ["a.example", "https://b.example"]}}',
      'F:1:44: key "sandboxNetwork.allow[1]": must be a host, without http:// in front',
    ],
    [
      '{"permissions": [\n  {"permission": "read", "action": "ask"}]}',
      'F:2:3: key "permissions[0].pattern": is missing',
    ],
    [
      '{"provider": {"openai": {"baseUrl": "sk-secret"}}}',
      'F:1:37: key "provider.openai.baseUrl": must be an address such as https://host/v1',
    ],
    [
      '{"provider": {"compatible": {"a/b": {"baseUrl": "http://a"}}}}',
      'F:1:30: key "provider.compatible["a/b"]": a server\'s name is made of letters, digits, dots, dashes and underscores',
    ],
    [
      '{"provider": {"compatible": {"a": {"baseUrl": "http://a", "models": ["b", {"id": 3, "aliass": 1}, 5]}}}}',
      [
        'F:1:82: key "provider.compatible.a.models[1].id": must be a text in double quotes',
        'F:1:85: key "provider.compatible.a.models[1].aliass": there is no such setting; did you mean "aliases"?',
        'F:1:99: key "provider.compatible.a.models[2]": must be a string or an object',
      ].join("\n"),
    ],
    ['{"__proto__": {"model": 1}}', 'F:1:2: key "__proto__": no setting can have this name'],
    [
      '{"provider": {"compatible": {"__proto__": {}}}}',
      'F:1:30: key "provider.compatible.__proto__": no setting can have this name',
    ],
    ['{"maxTurns": 3, "maxTurns": "x"}', 'F:1:29: key "maxTurns": must be a number'],
  ])("%p", (text, complaint) => {
    expect(complaintAbout(text)).toBe(complaint);
  });

  test("names from the prototype are treated as unknown names", () => {
    expect(complaintAbout('{"constructor": 1}')).toStartWith(
      'F:1:2: key "constructor": there is no such setting',
    );
    expect(complaintAbout('{"toString": 1}')).toStartWith('F:1:2: key "toString": there is no such setting');
  });

  test("all errors are reported at once, in the order of the text, up to twenty lines", () => {
    expect(complaintAbout('{"maxTurns": 0,\n"modl": 1,\n"approval": 3}')).toBe(
      [
        'F:1:14: key "maxTurns": must be above 0',
        'F:2:1: key "modl": there is no such setting; did you mean "model"?',
        'F:3:13: key "approval": must be one of "ask", "accept-edits", "plan", "auto", "deny"',
      ].join("\n"),
    );
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`unknown${index}`, 1]));
    const lines = complaintAbout(JSON.stringify(many)).split("\n");
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe("and 19980 more");
  });
});
