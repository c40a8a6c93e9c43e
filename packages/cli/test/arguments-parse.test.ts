import { describe, expect, test } from "bun:test";
import type { Command, RunCommand } from "../src/arguments/command.ts";
import { OPTIONS, type Option } from "../src/arguments/options.ts";
import { parseArguments } from "../src/arguments/parse.ts";
import { UsageError } from "../src/errors.ts";

function parse(...argv: string[]): Command {
  return parseArguments(argv);
}

function parseFailure(...argv: string[]): string {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "no failure";
}

function run(fields: Partial<RunCommand> = {}): RunCommand {
  return { kind: "run", isPrint: false, options: { isSaved: true, isVerbose: false }, ...fields };
}

describe("a prompt on the command line", () => {
  test("is absent without arguments, which start an interactive run", () => {
    expect(parse()).toEqual(run());
  });

  test("consists of the remaining words", () => {
    expect(parse("fix", "the typo")).toEqual(run({ prompt: "fix the typo" }));
  });

  test("may follow or precede -p, which takes no value", () => {
    const expected = run({ isPrint: true, prompt: "fix it" });
    expect(parse("-p", "fix it")).toEqual(expected);
    expect(parse("fix it", "--print")).toEqual(expected);
    expect(parse("fix", "-p", "it")).toEqual(expected);
  });

  test("may follow --, which ends the options", () => {
    expect(parse("-p", "--", "--model", "-x")).toEqual(run({ isPrint: true, prompt: "--model -x" }));
    expect(parse("--", "config")).toEqual(run({ prompt: "config" }));
  });

  test("may be a lone dash or a list item", () => {
    expect(parse("-p", "-")).toEqual(run({ isPrint: true, prompt: "-" }));
    expect(parse("-p", "- fix this\n- and that")).toEqual(
      run({ isPrint: true, prompt: "- fix this\n- and that" }),
    );
  });

  test("may be empty, so that the mode refuses it", () => {
    expect(parse("-p", "")).toEqual(run({ isPrint: true, prompt: "" }));
  });
});

describe("options of a run", () => {
  test("all accept their values in the next word", () => {
    const argv =
      "-m opus --approval auto --max-turns 3 --max-cost 0.50 --output-format stream-json -C dir".split(" ");
    expect(parse(...argv, "--no-session", "--verbose", "--append-system-prompt", "be brief")).toEqual(
      run({
        options: {
          model: "opus",
          approval: "auto",
          maxTurns: 3,
          maxCost: 0.5,
          outputFormat: "stream-json",
          directory: "dir",
          appendSystemPrompt: "be brief",
          isSaved: false,
          isVerbose: true,
        },
      }),
    );
  });

  test("accept a value after an equals sign, or directly after a short option", () => {
    const expected = run({ options: { model: "a=b", isSaved: true, isVerbose: false } });
    for (const argv of [["--model=a=b"], ["-ma=b"], ["-m=a=b"], ["-m", "a=b"]])
      expect(parse(...argv)).toEqual(expected);
  });

  test("may share a dash if they are short", () => {
    expect(parse("-pm", "opus", "hi")).toEqual(
      run({ isPrint: true, prompt: "hi", options: { model: "opus", isSaved: true, isVerbose: false } }),
    );
  });

  test("apply the last of two values", () => {
    expect(parse("-m", "a", "--model", "b")).toEqual(
      run({ options: { model: "b", isSaved: true, isVerbose: false } }),
    );
  });

  test("accept a value that begins with a dash if it is not an option", () => {
    expect(parse("--append-system-prompt", "-Wall is wanted")).toEqual(
      run({ options: { appendSystemPrompt: "-Wall is wanted", isSaved: true, isVerbose: false } }),
    );
  });
});

describe("options that resume a session", () => {
  const resumption = (reference?: string, how: "continue" | "fork" = "continue") => ({
    how,
    ...(reference !== undefined && { reference }),
  });

  for (const option of ["-c", "--continue", "-r", "--resume"]) {
    const isResume = option === "-r" || option === "--resume";
    const list = isResume ? { opensList: true as const } : {};

    test(`${option} accepts a list number or a session id; any other word may be a name`, () => {
      expect(parse(option)).toEqual(run({ resumption: { ...resumption(), ...list } }));
      for (const reference of [
        "2",
        "999",
        "20260225",
        "20260225103000-",
        "20260225103000-a1b2c3",
        "2@0011aabb",
        "2@before-refactoring",
      ]) {
        expect(parse(option, reference)).toEqual(run({ resumption: resumption(reference) }));
      }
      for (const word of ["1234", "2026-02-25", "fix 2 bugs", "a1b2c3d4", "20260225-XYZ", "1234567"]) {
        const named = {
          ...resumption(),
          ...list,
          word: { text: word, option: isResume ? "--resume" : "--continue" },
        };
        expect(parse(option, word)).toEqual(run({ resumption: named }));
        expect(parse("-p", "go", option, word, "on")).toEqual(
          run({ isPrint: true, resumption: named, prompt: "go on" }),
        );
      }
    });
  }

  test("leave the word after a reference to the prompt", () => {
    expect(parse("-c", "2", "3", "more")).toEqual(run({ resumption: resumption("2"), prompt: "3 more" }));
  });

  test("treat everything after an equals sign as a reference", () => {
    expect(parse("--continue=latest", "go on")).toEqual(
      run({ resumption: resumption("latest"), prompt: "go on" }),
    );
    expect(parse("--fork=x")).toEqual(run({ resumption: resumption("x", "fork") }));
    expect(parse("-c=x")).toEqual(run({ resumption: resumption("x") }));
  });

  test("treat a digit in a group of short options as the reference", () => {
    expect(parse("-pc", "2", "go on")).toEqual(
      run({ isPrint: true, resumption: resumption("2"), prompt: "go on" }),
    );
    expect(parse("-c12")).toEqual(run({ resumption: resumption("12") }));
    expect(parse("-cp", "2")).toEqual(run({ isPrint: true, resumption: resumption(), prompt: "2" }));
  });

  test("include --fork, which accepts a reference too", () => {
    expect(parse("--fork", "3")).toEqual(run({ resumption: resumption("3", "fork") }));
    expect(parse("--fork", "try it")).toEqual(
      run({ resumption: { ...resumption(undefined, "fork"), word: { text: "try it", option: "--fork" } } }),
    );
  });

  test.each([
    ["-c", resumption()],
    ["--continue=2", resumption("2")],
    ["--fork=2", resumption("2", "fork")],
  ])("a single word with %s is a prompt", (option, resumed) => {
    expect(parse("yes", option)).toEqual(run({ resumption: resumed, prompt: "yes" }));
  });

  test("leave a word that does not directly follow the option, or follows --, to the prompt", () => {
    expect(parse("-c", "-p", "hi")).toEqual(run({ isPrint: true, resumption: resumption(), prompt: "hi" }));
    expect(parse("-c", "--", "my name")).toEqual(run({ resumption: resumption(), prompt: "my name" }));
    expect(parse("hi", "-c")).toEqual(run({ resumption: resumption(), prompt: "hi" }));
  });

  test("cannot be combined", () => {
    expect(parseFailure("-c", "--fork")).toBe("--continue and --fork cannot be combined");
  });
});

describe("other commands", () => {
  test("help and version take precedence over a run", () => {
    expect(parse("-p", "x", "--help")).toEqual({ kind: "help" });
    expect(parse("--version", "x")).toEqual({ kind: "version" });
    expect(parse("-h", "-v")).toEqual({ kind: "help" });
  });

  test("--list works with and without --json", () => {
    const options = { isSaved: true, isVerbose: false };
    expect(parse("-l")).toEqual({ kind: "list", isJson: false, options });
    expect(parse("--list", "--json")).toEqual({ kind: "list", isJson: true, options });
    expect(parseFailure("--list", "all")).toBe("--list takes no prompt: all");
    for (const option of ["--record", "--replay"]) {
      expect(parseFailure("--list", option, "x.json")).toBe(`${option} cannot be used with --list`);
    }
    expect(parseFailure("-p", "--json", "x")).toBe(
      "--json needs --list; for a run, use --output-format json",
    );
  });

  test("a subcommand takes everything after its name", () => {
    expect(parse("-C", "dir", "sessions", "--json", "rm")).toEqual({
      kind: "subcommand",
      name: "sessions",
      rest: ["--json", "rm"],
      directory: "dir",
    });
  });

  test("a subcommand's name is part of the prompt after -p and after other words", () => {
    expect(parse("-p", "config")).toEqual(run({ isPrint: true, prompt: "config" }));
    expect(parse("explain", "config")).toEqual(run({ prompt: "explain config" }));
  });

  test("a subcommand accepts no other global option", () => {
    expect(parseFailure("-m", "opus", "undo")).toBe("--model cannot be used with diligent undo");
  });

  test("names that every object has are not subcommands", () => {
    expect(parse("constructor")).toMatchObject(run({ prompt: "constructor" }));
  });
});

describe("a single word on the command line", () => {
  test("help shows the help page, but is a prompt after --, with -p or next to other words", () => {
    expect(parse("help")).toEqual({ kind: "help" });
    expect(parse("--", "help")).toEqual(run({ prompt: "help" }));
    expect(parse("-p", "help")).toEqual(run({ isPrint: true, prompt: "help" }));
    expect(parse("help", "me", "please")).toEqual(run({ prompt: "help me please" }));
  });

  test("help COMMAND shows the page of that command, and version the version", () => {
    expect(parse("help", "doctor")).toEqual({ kind: "help", about: "doctor" });
    expect(parse("help", "help")).toEqual({ kind: "help" });
    expect(parse("version")).toEqual({ kind: "version" });
    expect(parse("--", "version")).toEqual(run({ prompt: "version" }));
    expect(parse("version", "control")).toEqual(run({ prompt: "version control" }));
    expect([parseFailure("help", "doctr"), parseFailure("help", "me")]).toEqual([
      'unknown command "doctr"; did you mean diligent doctor? To send it as a prompt: diligent -- help doctr',
      'unknown command "me"; run diligent help for a list. To send it as a prompt: diligent -- help me',
    ]);
  });

  test.each([
    [["list"], "diligent --list"],
    [["ls"], "diligent --list"],
    [["resume"], "diligent --continue"],
    [["resume", "2"], "diligent --continue"],
    [["session"], "diligent sessions"],
    [["session", "show", "1"], "diligent sessions"],
    [["Update"], "diligent doctor, which says whether a newer version is out"],
    [["settings"], "diligent config"],
  ] as const)("%p is suggested as %s, its name in other programs", (words, meant) => {
    const text = words.join(" ");
    expect([parseFailure(...words), parse("-p", ...words)]).toEqual([
      `unknown command "${words[0]}"; did you mean ${meant}? To send it as a prompt: diligent -- ${text}`,
      run({ isPrint: true, prompt: text }),
    ]);
  });

  test.each([["list the files"], ["session handling is broken"], ["resume the upload"]])(
    "%p is a prompt, quoted or not",
    (text) => {
      expect([parse(text), parse(...text.split(" "))]).toEqual([
        run({ prompt: text }),
        run({ prompt: text }),
      ]);
    },
  );

  test.each([
    ["doctr", "doctor"],
    ["sessoins", "sessions"],
    ["Knowledge", "knowledge"],
    ["model", "models"],
    ["unod", "undo"],
    ["histroy", "history"],
    ["lsit", "--list"],
  ])("%s is not a prompt, since %s is a command", (word, command) => {
    const hint = `unknown command "${word}"; did you mean diligent ${command}? To send it as a prompt:`;
    expect([parseFailure(word), parse("--", word), parse(word, "it")]).toEqual([
      `${hint} diligent -- ${word}`,
      run({ prompt: word }),
      run({ prompt: `${word} it` }),
    ]);
    for (const options of [
      ["-m", "x"],
      ["--max-turns", "3"],
      ["--no-session", "--verbose"],
    ])
      expect(parseFailure(...options, word)).toBe(`${hint} diligent -- ${word}`);
  });

  test.each([
    ["doctr", "doctor"],
    ["sessoins", "sessions"],
    ["unod", "undo"],
    ["histroy", "history"],
    ["lsit", "--list"],
    ["upadte", "doctor, which says whether a newer version is out"],
  ])("-p %s is refused as a typo, since %s is a command", (word, command) => {
    expect(parseFailure("-p", word)).toBe(
      `unknown command "${word}"; did you mean diligent ${command}? To send it as a prompt: diligent -p -- ${word}`,
    );
    expect(parseFailure("-m", "x", word, "-p")).toContain("did you mean diligent");
    expect(parse("-p", "--", word)).toEqual(run({ isPrint: true, prompt: word }));
    expect(parse("-p", word, "it")).toEqual(run({ isPrint: true, prompt: `${word} it` }));
  });

  test.each(["hello", "doctor", "Knowledge", "model", "exports", "list", "update", "test", "stauts"])(
    "-p %s is a prompt",
    (word) => {
      expect(parse("-p", word)).toEqual(run({ isPrint: true, prompt: word }));
    },
  );

  test("-C may precede a command, and so a near-miss of one", () => {
    expect(parseFailure("-C", "dir", "doctr")).toContain('unknown command "doctr"');
    expect(parseFailure("doctr", "-Cdir")).toContain('unknown command "doctr"');
    expect(parseFailure("-C", "doctr")).toBe("no failure");
  });

  test.each(["test", "hello", "continue", "redo", "fix", "Grüße", "-C dir hello"])(
    "%p is a prompt that needs confirmation",
    (words) => {
      const prompt = words.split(" ").at(-1) ?? "";
      expect(parse(...words.split(" "))).toMatchObject({ kind: "run", prompt, isBareWord: true });
      expect(parse("-m", "x", ...words.split(" "))).not.toHaveProperty("isBareWord");
      expect(parse("--", prompt)).toEqual(run({ prompt }));
    },
  );

  test.each(["status", "stauts", "Compat", "keys"])(
    "%s needs confirmation with other options as well, since it may be a slash command",
    (word) => {
      for (const options of [["-m", "x"], ["--max-turns", "3"], []])
        expect(parse(...options, word)).toMatchObject({ kind: "run", prompt: word, isBareWord: true });
      expect(parse("-p", word)).not.toHaveProperty("isBareWord");
      expect(parse("-c", "--", word)).not.toHaveProperty("isBareWord");
    },
  );

  test.each(["", "exports of utils.ts", "why?", "/status", "@notes.md", "修复登录"])(
    "%p is a prompt that cannot be a command",
    (word) => {
      expect(parse(word)).toEqual(run({ prompt: word }));
    },
  );
});

describe("usage errors are named on one line", () => {
  const failures: readonly (readonly [string, string])[] = [
    ["--modle x", "unknown option --modle (did you mean --model?)"],
    ["--contineu", "unknown option --contineu (did you mean --continue?)"],
    ["--frobnicate", "unknown option --frobnicate (see diligent --help)"],
    ["--modle=x", "unknown option --modle (did you mean --model?)"],
    ["--directory x", "unknown option --directory (see diligent --help)"],
    ["-x", "unknown option -x (see diligent --help)"],
    ["-P", "unknown option -P (did you mean -p?)"],
    ["-model x", "unknown option -model (did you mean --model?)"],
    ["-pz", "unknown option -pz (see diligent --help)"],
    ["--model", "--model needs a value: --model MODEL"],
    ["--model=", "--model needs a value: --model MODEL"],
    ["--model -p", "--model needs a value: --model MODEL"],
    ["--model -- x", "--model needs a value: --model MODEL"],
    ["-C", "-C needs a value: -C DIR"],
    ["-mp", "no failure"],
    ["-pm", "--model needs a value: --model MODEL"],
    ["--print=x", "--print takes no value"],
    ["-p=x", "--print takes no value"],
    [
      "--approval atuo",
      "--approval atuo: not one of ask, accept-edits, plan, auto, deny; did you mean auto?",
    ],
    ["--approval never", "--approval never: not one of ask, accept-edits, plan, auto, deny"],
    ["--output-format xml", "--output-format xml: not one of text, json, stream-json"],
    ["--max-turns 0", "--max-turns 0: not a whole number of 1 or more"],
    ["--max-turns -1", "--max-turns -1: not a whole number of 1 or more"],
    ["--max-turns 1e3", "--max-turns 1e3: not a whole number of 1 or more"],
    ["--max-turns 2.5", "--max-turns 2.5: not a whole number of 1 or more"],
    ["--max-turns 99999999999999999999", "--max-turns 99999999999999999999: not a whole number of 1 or more"],
    ["--max-cost 0", "--max-cost 0: not an amount in US dollars above 0, such as 0.50"],
    ["--max-cost $1", "--max-cost $1: not an amount in US dollars above 0, such as 0.50"],
    ["--max-cost NaN", "--max-cost NaN: not an amount in US dollars above 0, such as 0.50"],
  ];
  for (const [line, expected] of failures) {
    test(line, () => expect(parseFailure(...line.split(" "))).toBe(expected));
  }
});

test("no two options share a spelling", () => {
  const spellings = OPTIONS.flatMap(({ name, alias }: Option) => [name, ...(alias ? [alias] : [])]);
  expect(new Set(spellings).size).toBe(spellings.length);
});
