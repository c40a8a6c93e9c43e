import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SecretRedactor } from "../../src/infrastructure/text/secret-redactor.ts";
import { createTools } from "../../src/tools/index.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

const KEY = "sk-ant-api03-Zq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sU";

async function openFile(content: string) {
  const redactor = new SecretRedactor([{ value: KEY, placeholder: "[key of anthropic]" }]);
  const workspace = createToolWorkspace({ redactor });
  const path = join(workspace.root, "settings.txt");
  writeFileSync(path, content);
  const tools = new Map(createTools(workspace).map((tool) => [tool.name, tool]));
  const run = (name: string, input: object) => {
    const tool = tools.get(name);
    if (!tool) throw new Error(`There is no tool ${name}.`);
    return runTool(tool, input).then(
      ({ output }) => output,
      (error: unknown) => String(error),
    );
  };
  await run("read", { file_path: path });
  return { path, run, text: () => readFileSync(path, "utf8") };
}

test("edit and write reject a placeholder in place of the secret, and the file stays unchanged", async () => {
  const content = `KEY=${KEY}\nPORT=1\n`;
  const { path: file_path, run, text } = await openFile(content);
  const answers = [
    await run("edit", { file_path, old_string: "KEY=[key of anthropic]\nPORT=1", new_string: "PORT=2" }),
    await run("edit", { file_path, old_string: "PORT=1", new_string: "PORT=1\nCOPY=[key of anthropic]" }),
    await run("write", { file_path, content: "KEY=[key of anthropic]\nPORT=2\n" }),
  ];
  for (const answer of answers)
    expect(answer).toMatch(
      /was left unchanged: (old_string|new_string|content) contains \[key of anthropic\], the placeholder of a secret/,
    );
  expect(text()).toBe(content);
});

test("edit changes the lines beside a secret", async () => {
  const { path: file_path, run, text } = await openFile(`KEY=${KEY}\nPORT=1\n`);
  await run("edit", { file_path, old_string: "PORT=1", new_string: "PORT=2" });
  expect(text()).toBe(`KEY=${KEY}\nPORT=2\n`);
});

test("edit changes a file that contains a placeholder's text and no secret", async () => {
  const { path: file_path, run, text } = await openFile("Shown as [key of anthropic].\n");
  await run("edit", {
    file_path,
    old_string: "Shown as [key of anthropic].",
    new_string: "Written as [key of anthropic].",
  });
  expect(text()).toBe("Written as [key of anthropic].\n");
});

test("write creates a new file with a placeholder's text, and says that no secret is in it", async () => {
  const { path, run } = await openFile(`KEY=${KEY}\n`);
  const file_path = `${path}.md`;
  const answer = await run("write", { file_path, content: "Errors say [key of anthropic].\n" });
  expect(answer).toEndWith(
    "It contains [key of anthropic] as plain text: these are placeholders of secrets, which were not inserted.",
  );
  expect(readFileSync(file_path, "utf8")).toBe("Errors say [key of anthropic].\n");
});
