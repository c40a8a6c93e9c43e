import { describe, expect, test } from "bun:test";
import { describeGuards } from "../../../src/extensions/rules/describe-guard.ts";
import { compileText, resolveContradictions } from "../../../src/extensions/rules/rule-list.ts";
import { PUBLIC_RULES } from "../../support/public-rules.ts";

const compile = (content: string) => compileText({ content, source: "AGENTS.md" });
const guardsOf = (content: string) => compile(content).map(({ guards }) => describeGuards(guards));
const reasonsOf = (content: string) => compile(content).map(({ reason }) => reason);

describe("the wordings of instruction files", () => {
  test.each(PUBLIC_RULES.map(([sentence, guard]) => ({ sentence, guard })))(
    "$sentence",
    ({ sentence, guard }) => {
      const bound = compile(sentence).filter(({ guards }) => guards.length > 0);
      const described = bound.map(({ guards }) => describeGuards(guards)).join("; ");
      if (guard === null) expect(described).toBe("");
      else expect(described).toStartWith(guard);
    },
  );

  test("of 60, at least 80 percent are compiled", () => {
    const bound = PUBLIC_RULES.filter(([sentence]) =>
      compile(sentence).some(({ guards }) => guards.length > 0),
    );
    expect(PUBLIC_RULES.length).toBe(60);
    expect(bound.length).toBeGreaterThanOrEqual(48);
  });
});

test("a typographic apostrophe is one", () => {
  expect(guardsOf("Don’t push.")).toEqual(guardsOf("Don't push."));
  expect(guardsOf("Don’t push.").join("")).not.toBe("");
});

test("escape sequences of terminals around a sentence do not hide it", () => {
  expect(guardsOf("\u001b[31mNever use `sudo`.\u001b[0m\u0007")).toEqual(guardsOf("Never use `sudo`."));
  expect(guardsOf("Never use `sudo`.").join("")).not.toBe("");
});

test("the option with which hooks are skipped may follow them", () => {
  const expected = guardsOf("Never bypass pre-commit hooks.");
  expect(expected.join("")).not.toBe("");
  expect(guardsOf("Never bypass pre-commit hooks with --no-verify.")).toEqual(expected);
  expect(guardsOf("Do not skip hooks by using the `--no-verify` flag.")).toEqual(expected);
});

describe("what leaves a doubt is not enforced, with the reason", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["Should I never push?", "it is a question"],
    ["> Never push.", "it is quoted"],
    ['"Never push" is what the old guide said.', "it is quoted"],
    ["Never don't push.", "it is negated twice"],
    ["It is not true that you must never push.", "it is negated twice"],
    ["Do not refrain from pushing.", "it is negated twice"],
    ["Niemals pushen.", "it is not in English"],
    ["No usar npm.", "it is not in English"],
    ["Ne jamais pousser.", "it is not in English"],
    ["不要推送到 main。", "it is not in English"],
    ["Никогда не делай push.", "it is not in English"],
    ["Prefer `rg` over `grep`.", "it is advice, not a rule"],
    ["Avoid `npm`.", "it is advice, not a rule"],
    ["Do not commit unless asked.", "it depends on something that cannot be checked: “unless asked”"],
    ["Never push without asking.", "it depends on something that cannot be checked: “without asking”"],
    ["Never push if the tests fail.", "it depends on something that cannot be checked: “if the tests fail”"],
    [
      "No new dependencies without approval.",
      "it depends on something that cannot be checked: “without approval”",
    ],
    ["Never use `any`.", "it names no command, path or check that can be recognized"],
    ["Always write clear code.", "it names no command, path or check that can be recognized"],
    ["Never make the tests slower.", "it names no command, path or check that can be recognized"],
  ];
  test.each(cases.map(([sentence, reason]) => ({ sentence, reason })))(
    "$sentence",
    ({ sentence, reason }) => {
      expect(compile(sentence).map(({ guards, reason: found }) => [guards, found])).toEqual([[[], reason]]);
    },
  );
});

test.each([
  "This project uses bun.",
  "Tests are in `test/`.",
  "The linter runs in CI.",
  "```sh\nnever push\n```",
  "<!-- Never push. -->",
  "# Never push",
  "Text.\n\n    never push\n",
  "",
])("what tells nothing to do is no rule: %p", (text) => {
  expect(compile(text)).toEqual([]);
});

test("a heading or a line such as Never makes each item of its list a prohibition", () => {
  const text = "## Never\n\n- push\n- `git rebase`\n\nYou must not:\n\n1. edit `dist/`\n";
  expect(compile(text).map(({ text: shown, line, guards }) => [shown, line, guards.length])).toEqual([
    ["Never: push", 3, 1],
    ["Never: `git rebase`", 4, 1],
    ["You must not: edit `dist/`", 8, 1],
  ]);
});

test("commands in a code block below a line with a colon belong to its sentence", () => {
  const text = "Before committing, run:\n\n```sh\nnpm run lint  # fast\n$ npm test\n```\n";
  expect(guardsOf(text)).toEqual(["needs npm run lint before git commit; needs npm test before git commit"]);
});

test("a sentence over several lines has the line of its beginning, and the next one its own", () => {
  const text = "Some words first.\nNever\npush. Do not\nuse npm.\n";
  expect(compile(text).map(({ line }) => line)).toEqual([2, 3]);
});

test("names are short, and unique in a file", () => {
  expect(compile("Never push.\n\nNever push!\n").map(({ name }) => name)).toEqual([
    "never-push",
    "never-push-2",
  ]);
});

describe("rules that contradict each other", () => {
  const resolve = (...groups: string[]) =>
    resolveContradictions(groups.map((content) => compile(content))).map((rules) =>
      rules.map(({ guards, reason }) => reason ?? describeGuards(guards)),
    );

  test("bind nobody in the same file", () => {
    expect(resolve("Use bun, not npm.\n\nUse npm, not bun.")).toEqual([
      [
        "it contradicts “Use npm, not bun.” (AGENTS.md:3)",
        "it contradicts “Use bun, not npm.” (AGENTS.md:1)",
      ],
    ]);
    expect(
      resolve("Never run `npm test`.\n\nRun `npm test` before you finish.")[0]?.every((text) =>
        text.startsWith("it contradicts"),
      ),
    ).toBe(true);
    expect(
      resolve("Do not edit `src/`.\n\nOnly edit files under `src/`.")[0]?.every((text) =>
        text.startsWith("it contradicts"),
      ),
    ).toBe(true);
  });

  test("leave the user's own in force against a project's", () => {
    expect(resolve("Use bun, not npm.", "Use npm, not bun.")).toEqual([
      ["refuses npm, npx"],
      ["it contradicts “Use bun, not npm.” (AGENTS.md:1)"],
    ]);
  });

  test("are not those that only concern the same program", () => {
    expect(
      resolve("Never push to main.\n\nNever force-push.\n\nUse bun, not npm.\n\nDo not use yarn.")[0],
    ).toHaveLength(4);
    expect(reasonsOf("Never push to main.\n\nUse bun, not npm.")).toEqual([undefined, undefined]);
  });
});
