import { describe, expect, test } from "bun:test";
import { createCompletion, rankPaths } from "../../src/tui/editor/completion.ts";
import { FileIndex } from "../../src/tui/editor/file-index.ts";
import { KEYS, TypedEditor } from "../support/typed-editor.ts";

const COMMANDS = [
  { name: "help", description: "What there is" },
  {
    name: "model",
    description: "Choose a model",
    complete: (argument: string) => ["sonnet", "opus"].filter((each) => each.startsWith(argument)),
  },
  { name: "new", aliases: ["clear"], description: "Begin anew" },
];

const FILES = ["readme.md", "src/app.ts", "src/tui/editor.ts", "docs/a b.md", 'odd".ts'];

function completionOf(files: readonly string[] = FILES) {
  return createCompletion({
    commands: COMMANDS,
    files: new FileIndex({ list: async () => files, now: () => 0 }),
  });
}

const request = () => ({ signal: new AbortController().signal });

async function suggestions(text: string, options = {}) {
  const lines = text.split("\n");
  const last = lines.length - 1;
  const found = await completionOf().getSuggestions(lines, last, lines[last]?.length ?? 0, {
    ...request(),
    ...options,
  });
  return found && { prefix: found.prefix, values: found.items.map(({ value }) => value) };
}

describe("completion of commands", () => {
  test("offers all of them in their order for a slash, with descriptions", async () => {
    const found = await completionOf().getSuggestions(["/"], 0, 1, request());
    expect(found).toEqual({
      prefix: "/",
      items: [
        { value: "/help", label: "/help", description: "What there is" },
        { value: "/model", label: "/model", description: "Choose a model" },
        { value: "/new", label: "/new", description: "Begin anew" },
      ],
    });
  });

  test("prefers names that begin with the typed text", async () => {
    const commands = ["recall", "clear", "cost"].map((name) => ({ name, description: "" }));
    const files = new FileIndex({ list: async () => [], now: () => 0 });
    const found = await createCompletion({ commands, files }).getSuggestions(["/c"], 0, 2, request());
    expect(found?.items.map(({ value }) => value)).toEqual(["/clear", "/cost", "/recall"]);
    expect(await suggestions("/ml")).toEqual({ prefix: "/ml", values: ["/model"] });
  });

  test("offers an alias under its own name, with the command it stands for", async () => {
    const found = await completionOf().getSuggestions(["/cl"], 0, 3, request());
    expect(found?.items).toEqual([{ value: "/clear", label: "/clear", description: "Begin anew (/new)" }]);
  });

  test("offers nothing for a doubled slash, a later line and an unknown word", async () => {
    expect(await suggestions("//he")).toBeNull();
    expect(await suggestions("text\n/he")).toBeNull();
    expect(await suggestions("/zzz")).toBeNull();
    expect(await suggestions("say /he")).toBeNull();
  });

  test("offers the arguments that the command suggests", async () => {
    expect(await suggestions("/model o")).toEqual({ prefix: "o", values: ["opus"] });
    expect(await suggestions("/model ")).toEqual({ prefix: "", values: ["sonnet", "opus"] });
    expect(await suggestions("/help o")).toBeNull();
    expect(await suggestions("/unknown o")).toBeNull();
  });
});

describe("completion of files", () => {
  test("finds them after @ by letters in order, the name before the directories", async () => {
    expect(await suggestions("see @ed")).toEqual({
      prefix: "@ed",
      values: ["@src/tui/editor.ts", "@readme.md"],
    });
    expect(await suggestions("@tui/e")).toEqual({ prefix: "@tui/e", values: ["@src/tui/editor.ts"] });
  });

  test("quotes a path with a blank, and accepts a quoted one", async () => {
    expect(await suggestions("@a b")).toBeNull();
    expect(await suggestions('@"a b')).toEqual({ prefix: '@"a b', values: ['@"docs/a b.md"'] });
    expect(await suggestions("@docs/")).toEqual({ prefix: "@docs/", values: ["@docs/", '@"docs/a b.md"'] });
  });

  test("offers directories with a slash, those at the top first if nothing is typed", async () => {
    expect((await suggestions("@"))?.values).toEqual([
      "@docs/",
      "@readme.md",
      "@src/",
      '@"docs/a b.md"',
      "@src/app.ts",
      "@src/tui/",
      "@src/tui/editor.ts",
    ]);
  });

  test("offers nothing for an e-mail address and paths outside", async () => {
    expect(await suggestions("me@app")).toBeNull();
    expect(await suggestions("@../app")).toBeNull();
    expect(await suggestions("@/app")).toBeNull();
    expect(await suggestions("@~/app")).toBeNull();
  });

  test("offers them after a command too", async () => {
    expect(await suggestions("/model @app")).toEqual({ prefix: "@app", values: ["@src/app.ts"] });
  });

  test("offers them for any word on Tab", async () => {
    expect(await suggestions("look at app")).toBeNull();
    expect(await suggestions("look at app", { force: true })).toEqual({
      prefix: "app",
      values: ["src/app.ts"],
    });
  });

  test("makes names safe for a terminal", async () => {
    const found = await completionOf(["a\u202eb.ts"]).getSuggestions(["@a"], 0, 2, request());
    expect(found?.items).toEqual([{ value: "@a\u202eb.ts", label: "a\\u{202e}b.ts" }]);
  });
});

describe("completion in the editor", () => {
  async function editorWith(...typed: string[]) {
    const editor = new TypedEditor({ completion: completionOf() });
    for (const input of typed) {
      editor.type(input);
      await settle();
    }
    return editor;
  }

  // pi-tui waits for a moment before it asks for files.
  const settle = () => new Promise((resolve) => setTimeout(resolve, 40));

  test("opens the list below the prompt, and Tab accepts the selected item", async () => {
    const typed = await editorWith("see @ed");
    expect(typed.editor.isCompleting).toBe(true);
    expect(typed.rows()).toEqual(["> see @ed|", "  → src/tui/editor.ts", "    readme.md"]);
    typed.type(KEYS.tab);
    expect(typed.editor.text).toBe("see @src/tui/editor.ts ");
    expect(typed.editor.isCompleting).toBe(false);
  });

  test("accepts a file with Enter without sending, and sends a command at once", async () => {
    const file = await editorWith("@app", KEYS.enter);
    expect(file.sent).toEqual([]);
    expect(file.editor.text).toBe("@src/app.ts ");
    const command = await editorWith("/mod", KEYS.enter);
    expect(command.sent).toEqual(["/model"]);
  });

  test("selects the next item with Down, and Escape closes the list and leaves the text", async () => {
    const typed = await editorWith("@ed", KEYS.down, KEYS.tab);
    expect(typed.editor.text).toBe("@readme.md ");
    const closed = await editorWith("@ed", KEYS.escape);
    expect(closed.editor.isCompleting).toBe(false);
    expect(closed.editor.text).toBe("@ed");
  });

  test("continues after a directory, in quotes too", async () => {
    const plain = await editorWith("@src/", KEYS.tab);
    expect(plain.type("a").editor.text).toBe("@src/a");
    const quoted = new TypedEditor({ completion: completionOf(["my docs/a.md"]) }).type("@my");
    await settle();
    quoted.type(KEYS.tab, "a");
    expect(quoted.editor.text).toBe('@"my docs/a"');
    await settle();
    expect(quoted.type(KEYS.tab).editor.text).toBe('@"my docs/a.md" ');
  });

  test("sends the typed text if Enter arrives together with keys, not an item offered for less of it", async () => {
    const command = await editorWith("/");
    command.type("new", KEYS.enter);
    expect([command.sent, command.editor.text]).toEqual([["/new"], ""]);
    const argument = await editorWith("/model ", "o");
    argument.type(KEYS.backspace, "sonnet", KEYS.enter);
    expect(argument.sent).toEqual(["/model sonnet"]);
    const file = await editorWith("see @");
    file.type("readme.md", KEYS.enter);
    expect(file.sent).toEqual(["see @readme.md"]);
  });

  test("completes the whole typed text if Tab arrives together with keys", async () => {
    const typed = await editorWith("@");
    typed.type("app", KEYS.tab);
    expect(typed.editor.text).toBe("@app");
    await settle();
    expect(typed.editor.text).toBe("@src/app.ts ");
    const command = await editorWith("/");
    command.type("mod", KEYS.tab);
    expect(command.editor.text).toBe("/mod");
  });

  test("accepts an item once the list is updated, even after keys that arrived together", async () => {
    const typed = await editorWith("/");
    typed.type("mod");
    await settle();
    typed.type(KEYS.enter);
    expect(typed.sent).toEqual(["/model"]);
  });

  test("does not close a quotation twice", async () => {
    const typed = await editorWith('@"a b"', KEYS.left, KEYS.tab, KEYS.tab);
    expect(typed.editor.text).toBe('@"docs/a b.md" ');
  });

  test("works next to a long paste, and lets no character of a name control the terminal", async () => {
    const completion = completionOf(["x\u202ey.ts"]);
    const typed = new TypedEditor({ completion }).paste("line\n".repeat(20)).type(" @x");
    await settle();
    typed.type(KEYS.tab);
    expect(typed.rows()).toEqual(["> [pasted 20 lines] @x\\u{202e}y.ts |"]);
    expect(typed.editor.text).toBe(`${"line\n".repeat(20)} @x\u202ey.ts `);
  });

  test("offers nothing for a command whose completion fails, and the next one works", async () => {
    const fails = { name: "bad", description: "", complete: () => Promise.reject(new Error("no")) };
    const completion = createCompletion({
      commands: [fails, ...COMMANDS],
      files: new FileIndex({ list: async () => FILES, now: () => 0 }),
    });
    const typed = new TypedEditor({ completion }).type("/bad x");
    await settle();
    expect(typed.editor.isCompleting).toBe(false);
    typed.editor.setText("");
    typed.type("/model o");
    await settle();
    expect(typed.editor.isCompleting).toBe(true);
  });

  test("takes with its list at most a third of a larger screen", async () => {
    const many = Array.from({ length: 60 }, (_, index) => `file${index}.ts`);
    const completion = completionOf(many);
    for (const rows of [24, 40, 60]) {
      const typed = new TypedEditor({ rows, completion });
      typed.editor.setText("line\n".repeat(40));
      typed.rows();
      typed.type("@file");
      await settle();
      expect(typed.editor.isCompleting).toBe(true);
      expect(typed.rows().length).toBeLessThanOrEqual(rows / 3);
    }
  });
});

test("finds the best of twenty thousand paths first", () => {
  const paths = Array.from(
    { length: 20_000 },
    (_, index) => `packages/part${index % 97}/src/file-${index}.ts`,
  );
  expect(rankPaths(paths, "zz", 5)).toEqual([]);
  expect(rankPaths(paths, "file-19999", 5)[0]).toBe(`packages/part${19_999 % 97}/src/file-19999.ts`);
});

test("sends a command with Enter if its argument is complete, and Tab still continues it", async () => {
  const typed = new TypedEditor({ completion: completionOf() }).type("/model opus");
  await Bun.sleep(60);
  expect(typed.editor.isCompleting).toBe(true);
  typed.type(KEYS.enter);
  expect(typed.sent).toEqual(["/model opus"]);
  typed.type("/model opu");
  await Bun.sleep(60);
  typed.type(KEYS.enter);
  expect([typed.sent.length, typed.editor.text]).toEqual([1, "/model opus "]);
  typed.editor.setText("");
  typed.type("see @readme.md");
  await Bun.sleep(60);
  typed.type(KEYS.enter);
  expect(typed.sent).toEqual(["/model opus", "see @readme.md"]);
  typed.type("/model opus");
  await Bun.sleep(60);
  typed.type(KEYS.tab);
  expect([typed.sent.length, typed.editor.text]).toEqual([2, "/model opus "]);
});
