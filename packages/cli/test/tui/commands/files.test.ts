import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readSessionFile } from "@diligent/core";
import { readArgument } from "../../../src/tui/commands/output-commands.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, type TypedOptions, writeScript } from "../../support/typed-commands.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(async () => {
  await program?.close();
  place.remove();
});

async function start(options?: TypedOptions): Promise<TypedCommands> {
  program = await new TypedCommands(place, options).open();
  return program;
}

/** A program of the user outside the project. */
function writeProgram(name: string, script: string): string {
  const path = join(place.home, "bin", name);
  mkdirSync(join(place.home, "bin"), { recursive: true });
  place.write(`../home/bin/${name}`, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("/export", () => {
  const read = (name: string) => readFileSync(join(place.project, name), "utf8");

  test("writes a document with calls and results, whose fences no content can close", async () => {
    place.write("a.txt", "```\nfence\n```\n");
    writeScript(place, { toolCalls: [{ name: "read", input: { file_path: "a.txt" } }] }, "Done `it`.");
    const typed = await start();
    await typed.say("# look at a.txt");
    typed.take();
    await typed.run("/export out.md");
    expect(typed.take()).toEqual([`Exported to ${join(place.project, "out.md")}`]);
    const text = read("out.md");
    expect(text).toMatch(/^# # look at a\.txt\n\nSession \S+, started /);
    expect(text).toContain('**read** ` {"file_path":"a.txt"} `');
    expect(text).toMatch(/\n````\n[\s\S]*```\n[\s\S]*\n````\n/);
    expect(text).toEndWith("## scripted/script.json\n\nDone `it`.\n");
    expect(statSync(join(place.project, "out.md")).mode & 0o777).toBe(0o600);
  });

  test("writes lines that are a session file again, of this branch only", async () => {
    writeScript(place, "one", "two", "three");
    const typed = await start();
    await typed.say("first");
    await typed.say("left");
    const { session } = await typed.holder.session;
    await typed.context.branch(session.branches.path[1]?.id ?? null, { isSummarized: false });
    await typed.say("second");
    await typed.run("/export jsonl");
    const file = readSessionFile(join(place.project, `diligent-${session.sessionId}.jsonl`));
    expect(file.header.id).toBe(session.sessionId);
    expect(file.entries).toEqual([...session.branches.path]);
    expect(JSON.stringify(file.entries)).not.toContain("left");
  });

  test("never overwrites: an existing name is refused, a generated one gets a number", async () => {
    writeScript(place, "one");
    const typed = await start();
    await typed.say("first");
    place.write("mine.md", "mine");
    typed.take();
    await typed.run("/export mine.md");
    await typed.run("/export");
    await typed.run("/export md");
    const { sessionId } = (await typed.holder.session).session;
    expect(typed.take()).toEqual([
      expect.stringMatching(/^error: .*mine\.md was not written: it already exists/),
      `Exported to ${join(place.project, `diligent-${sessionId}.md`)}`,
      `Exported to ${join(place.project, `diligent-${sessionId}-2.md`)}`,
    ]);
    expect(read("mine.md")).toBe("mine");
  });

  test("writes nothing for an empty conversation or a missing directory", async () => {
    writeScript(place, "one");
    const typed = await start();
    await typed.run("/export");
    await typed.say("first");
    await typed.run("/export no/such/place.md");
    expect(typed.take("notice")).toEqual([
      "No messages yet.",
      expect.stringMatching(/^error: .*place\.md was not written: it does not exist/),
    ]);
  });

  test("takes the format from the argument or from the file name", () => {
    expect(readArgument("")).toEqual({ format: "md", file: undefined });
    expect(readArgument("jsonl")).toEqual({ format: "jsonl", file: undefined });
    expect(readArgument("my notes.JSONL")).toEqual({ format: "jsonl", file: "my notes.JSONL" });
    expect(readArgument("md my notes.jsonl")).toEqual({ format: "md", file: "my notes.jsonl" });
  });
});

describe("/copy", () => {
  const copied = (raw: readonly string[]) => raw.join("").split(";")[2]?.slice(0, -1) ?? "";

  test("sends the last answer to the terminal, without control sequences that pasting would trigger", async () => {
    writeScript(place, "first answer", "Grüße \x1b[31mred\x07 end");
    const typed = await start();
    await typed.say("one");
    await typed.say("two");
    typed.take();
    await typed.run("/copy");
    expect(Buffer.from(copied(typed.raw), "base64").toString()).toBe("Grüße \\x1b[31mred\\x07 end");
    expect(typed.take()).toEqual([expect.stringContaining("to the clipboard")]);
  });

  test("reaches the terminal around tmux too", async () => {
    writeScript(place, "answer");
    const typed = await start({ environment: { TMUX: "/tmp/tmux-0/default,1,0" } });
    await typed.say("one");
    await typed.run("/copy");
    const base64 = Buffer.from("answer").toString("base64");
    expect(typed.raw).toEqual([`\x1b]52;c;${base64}\x07\x1bPtmux;\x1b\x1b]52;c;${base64}\x07\x1b\\`]);
  });

  test("copies nothing without an answer", async () => {
    const typed = await start({
      options: { model: "claude-sonnet-5" },
      environment: { ANTHROPIC_API_KEY: "x" },
    });
    await typed.run("/copy");
    expect([typed.raw, typed.take()]).toEqual([[], ["No response to copy yet."]]);
  });
});

describe("/result", () => {
  test("shows the last call in the pager, with the complete output if it was truncated", async () => {
    place.write("long.txt", Array.from({ length: 3_000 }, (_, index) => `line ${index}`).join("\n"));
    writeScript(place, { toolCalls: [{ name: "bash", input: { command: "cat long.txt" } }] }, "done");
    const out = join(place.top, "paged.txt");
    const pager = writeProgram("pager", `cat > ${out}; env > ${out}.env`);
    const typed = await start({ environment: { PAGER: `${pager} -R`, ANTHROPIC_API_KEY: "sk-secret" } });
    await typed.say("go");
    typed.take();
    await typed.press("ctrl+o");
    const paged = readFileSync(out, "utf8");
    expect(paged).toContain("cat long.txt");
    expect(paged).toContain("The whole output:");
    expect(paged).toContain("line 0\n");
    expect(paged).toContain("line 2999");
    expect(readFileSync(`${out}.env`, "utf8")).not.toContain("sk-secret");
    expect(typed.take()).toEqual([]);
  });

  test("writes to the transcript if the pager is missing", async () => {
    writeScript(place, { toolCalls: [{ name: "ls", input: {} }] }, "done");
    const typed = await start({ environment: { PAGER: "no-such-pager" } });
    await typed.say("go");
    typed.take();
    await typed.run("/result");
    expect(typed.take()).toEqual([
      "warning: The pager no-such-pager was not found in PATH. Set $PAGER to a pager.",
      expect.stringContaining("script.json"),
    ]);
  });

  test("never runs a program of the project", async () => {
    writeScript(place, { toolCalls: [{ name: "ls", input: {} }] }, "done");
    chmodSync(place.write("own-pager", `#!/bin/sh\ntouch ${place.top}/pwned\n`), 0o755);
    const typed = await start({
      environment: { PATH: `${place.project}:/usr/bin:/bin`, PAGER: "own-pager" },
    });
    await typed.say("go");
    typed.take();
    await typed.run("/result");
    expect(existsSync(join(place.top, "pwned"))).toBe(false);
    expect(typed.take("notice")).toEqual([
      "warning: The pager own-pager was not found in PATH. Set $PAGER to a pager.",
    ]);
  });

  test("knows the last call of a resumed session, and says if there is none", async () => {
    const out = join(place.top, "paged.txt");
    writeScript(place, { toolCalls: [{ name: "ls", input: {} }] }, "done");
    const typed = await start({ environment: { PAGER: writeProgram("pager", `cat > ${out}`) } });
    await typed.run("/result");
    expect(typed.take("notice")).toEqual(["No results yet."]);
    await typed.say("go");
    await typed.run("/new");
    await typed.run("/result");
    expect(existsSync(out)).toBe(false);
    await typed.run("/resume 1");
    await typed.run("/result");
    expect(readFileSync(out, "utf8")).toStartWith("ls\n");
  });
});

describe("/editor", () => {
  test("puts the text saved in the editor into the prompt", async () => {
    writeScript(place, "one");
    const editor = writeProgram("ed", 'printf " and more\\n" >> "$1"');
    const typed = await start({ environment: { EDITOR: editor } });
    typed.text = "a draft";
    await typed.press("ctrl+g");
    await typed.settle();
    expect(typed.text).toBe("a draft and more");
  });

  test("leaves the prompt unchanged if the editor cannot be started", async () => {
    writeScript(place, "one");
    const typed = await start();
    typed.text = "a draft";
    await typed.run("/editor");
    expect(typed.take()).toEqual([expect.stringMatching(/^error: Set \$VISUAL or \$EDITOR/)]);
    expect(typed.text).toBe("a draft");
  });
});

describe("/init", () => {
  const sent = async (typed: TypedCommands, line: string) => {
    typed.take();
    await typed.run(line);
    await typed.settle();
    return typed.take("prompt", "notice");
  };

  test("asks the model for new instructions, or to improve existing ones", async () => {
    writeScript(place, "one", "two", "three");
    const typed = await start();
    expect(await sent(typed, "/init")).toEqual([
      "AGENTS.md is being written; run /reload to use it.",
      expect.stringContaining(`Write ${join(place.project, "AGENTS.md")},`),
    ]);
    expect((await sent(typed, "/init claude.md"))[1]).toContain(`Write ${join(place.project, "CLAUDE.md")},`);
    place.write("CLAUDE.md", "Use tabs.");
    expect(await sent(typed, "/init")).toEqual([
      "CLAUDE.md exists and is being updated; run /reload to use it.",
      expect.stringContaining(`Review ${join(place.project, "CLAUDE.md")},`),
    ]);
  });

  test("accepts only the two file names", async () => {
    writeScript(place, "one");
    const typed = await start();
    expect(await sent(typed, "/init ../x.md")).toEqual([
      "error: /init writes CLAUDE.md or AGENTS.md, not ../x.md.",
    ]);
  });
});
