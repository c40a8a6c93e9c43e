import { describe, expect, test } from "bun:test";
import { complaintAbout } from "./support/config-complaint.ts";

describe("a broken file is refused with the place:", () => {
  test.each([
    ["", "F:1:1: the file is empty; {} would be a configuration without settings"],
    [" // nothing\n", "F:1:1: the file is empty; {} would be a configuration without settings"],
    ['{\n  "model": "a"\n  "maxTurns": 3\n}', "F:3:3: a comma is expected"],
    ['{"model": }', "F:1:11: a value is expected"],
    ['{"model" "a"}', "F:1:10: a colon is expected"],
    ['{\n"maxTurns": 1', "F:2:14: the closing } is missing"],
    ['{"instructions": ["a"', "F:1:22: the closing ] is missing"],
    ['{"model": "a\n}', "F:1:11: this text has no closing double quote"],
    ["{'model': 1}", "F:1:2: this is no JSON; names and texts stand in double quotes"],
    ["{} {}", "F:1:4: nothing more is expected here"],
    ["/* never ends", "F:1:1: this comment has no end"],
    ["[]", "F:1:1: an object in { } is expected"],
    ['\n  "text"', "F:2:3: an object in { } is expected"],
    ["<<<<<<< HEAD\n{}", "F:1:1: this is no JSON; names and texts stand in double quotes"],
    ['{"model": "\\q"}', "F:1:11: this text holds a \\ that begins no known escape"],
  ])("%p", (text, complaint) => {
    expect(complaintAbout(text)).toBe(complaint);
  });
});

test("a text of nothing but brackets is refused without being read to its end", () => {
  expect(complaintAbout(`{"models": ${"[".repeat(100_000)}`)).toBe("F:1:43: nested deeper than 32 levels");
});

describe("a wrong setting is refused with its place, its name and what is wrong:", () => {
  test.each([
    ['{\n  "modle": "a"\n}', 'F:2:3: key "modle": there is no such setting; did you mean "model"?'],
    [
      '{"apiKey": "a"}',
      'F:1:2: key "apiKey": there is no such setting here; did you mean "provider.anthropic.apiKey" or "provider.openai.apiKey"?',
    ],
    [
      '{"session": {"zzzzzz": 1}}',
      'F:1:14: key "session.zzzzzz": there is no such setting; known here are autoResume',
    ],
    ['{"maxTurns": "3"}', 'F:1:14: key "maxTurns": has to be a number'],
    ['{"maxTurns": 1.5}', 'F:1:14: key "maxTurns": has to be a whole number'],
    ['{"maxTurns": 0}', 'F:1:14: key "maxTurns": has to be above 0'],
    ['{"maxRetries": -1}', 'F:1:16: key "maxRetries": has to be at least 0'],
    ['{"maxTurns": 1e300}', 'F:1:14: key "maxTurns": has to be at most 9007199254740991'],
    ['{"model": null}', 'F:1:11: key "model": has to be a text in double quotes'],
    ['{"model": ""}', 'F:1:11: key "model": may not be empty'],
    ['{"session": []}', 'F:1:13: key "session": has to be an object in { }'],
    ['{"instructions": "a"}', 'F:1:18: key "instructions": has to be a list in [ ]'],
    [
      '{"approval": "akk"}',
      'F:1:14: key "approval": has to be one of "auto", "ask", "deny", "plan"; did you mean "ask"?',
    ],
    ['{"sandbox": true}', 'F:1:13: key "sandbox": has to be one of "auto", "required", "off"'],
    [
      '{"permissions": [\n  {"permission": "read", "action": "ask"}]}',
      'F:2:3: key "permissions[0].pattern": is missing',
    ],
    [
      '{"provider": {"openai": {"baseUrl": "sk-secret"}}}',
      'F:1:37: key "provider.openai.baseUrl": has to be an address such as https://host/v1',
    ],
    [
      '{"provider": {"compatible": {"a/b": {"baseUrl": "http://a"}}}}',
      'F:1:30: key "provider.compatible["a/b"]": a server\'s name is made of letters, digits, dots, dashes and underscores',
    ],
    [
      '{"provider": {"compatible": {"a": {"baseUrl": "http://a", "models": ["b", {"id": 3, "aliass": 1}, 5]}}}}',
      [
        'F:1:82: key "provider.compatible.a.models[1].id": has to be a text in double quotes',
        'F:1:85: key "provider.compatible.a.models[1].aliass": there is no such setting; did you mean "aliases"?',
        'F:1:99: key "provider.compatible.a.models[2]": has to be a text or an object',
      ].join("\n"),
    ],
    ['{"__proto__": {"model": 1}}', 'F:1:2: key "__proto__": no setting can have this name'],
    [
      '{"provider": {"compatible": {"__proto__": {}}}}',
      'F:1:30: key "provider.compatible.__proto__": no setting can have this name',
    ],
    ['{"maxTurns": 3, "maxTurns": "x"}', 'F:1:29: key "maxTurns": has to be a number'],
  ])("%p", (text, complaint) => {
    expect(complaintAbout(text)).toBe(complaint);
  });

  test("names from the prototype are unknown names like any other", () => {
    expect(complaintAbout('{"constructor": 1}')).toStartWith(
      'F:1:2: key "constructor": there is no such setting',
    );
    expect(complaintAbout('{"toString": 1}')).toStartWith('F:1:2: key "toString": there is no such setting');
  });

  test("everything that is wrong is told at once, in the order of the text, up to twenty lines", () => {
    expect(complaintAbout('{"maxTurns": 0,\n"modl": 1,\n"approval": 3}')).toBe(
      [
        'F:1:14: key "maxTurns": has to be above 0',
        'F:2:1: key "modl": there is no such setting; did you mean "model"?',
        'F:3:13: key "approval": has to be one of "auto", "ask", "deny", "plan"',
      ].join("\n"),
    );
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`unknown${index}`, 1]));
    const lines = complaintAbout(JSON.stringify(many)).split("\n");
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe("and 19980 more");
  });
});
