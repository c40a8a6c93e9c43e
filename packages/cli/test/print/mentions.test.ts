import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("answer.json", { version: 1, turns: [{ text: "Done." }] });
  place.write("notes.md", "the notes\n");
  place.write("with blank.md", "a blank\n");
  place.write(".env", "TOKEN=secret-value\n");
  writeFileSync(join(place.home, "outside.md"), "outside-value\n");
});

afterEach(() => place.remove());

/** The texts of the first message that was saved. */
function sentTexts(): string[] {
  const directory = join(place.project, ".diligent/sessions");
  const [file = ""] = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  const entry = parseLines(readFileSync(join(directory, file), "utf8")).find(
    ({ type }) => type === "message",
  );
  const message: { content: string | { text: string }[] } = JSON.parse(JSON.stringify(entry?.message));
  return typeof message.content === "string" ? [message.content] : message.content.map(({ text }) => text);
}

const MODEL = ["-m", "scripted/answer.json"];

test("-p attaches files of the project that the prompt mentions, and says so on stderr", async () => {
  const prompt = 'Compare @notes.md with @"with blank.md", and ask @somebody.';
  const { stdout, stderr, exitCode } = await runDiligent(place, ["-p", prompt, ...MODEL]);
  expect([stdout, exitCode]).toEqual(["Done.\n", 0]);
  const [text, ...attached] = sentTexts();
  expect(text).toBe(prompt);
  expect(attached).toEqual([expect.stringContaining("the notes"), expect.stringContaining("a blank")]);
  expect(stderr).toContain("notes.md");
  expect(stderr).not.toContain("somebody");
});

test("-p attaches nothing secret or outside the project, and nothing that piped input mentions", async () => {
  const prompt = `Read @.env and @${join(place.home, "outside.md")}.`;
  const { stderr } = await runDiligent(place, ["-p", prompt, ...MODEL], {
    stdin: "from a pipe: @notes.md\n",
  });
  const sent = sentTexts().join("\n");
  for (const content of ["secret-value", "outside-value", "the notes"]) expect(sent).not.toContain(content);
  expect(stderr).toContain("Cannot attach .env: it may hold secrets");
  expect(stderr).toContain("is outside the project");
});

test("a prompt of stream-json attaches files in the same way", async () => {
  const input = `${JSON.stringify({ type: "user", content: "Explain @notes.md" })}\n`;
  const args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", ...MODEL];
  const { exitCode } = await runDiligent(place, args, { stdin: input });
  expect(exitCode).toBe(0);
  expect(sentTexts()[1]).toContain("the notes");
});
