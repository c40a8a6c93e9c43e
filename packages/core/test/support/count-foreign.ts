import { readFileSync } from "node:fs";

/** The conversation of a session file, counted line by line; nothing of the program's readers is used. */
export interface ConversationCount {
  users: number;
  replies: number;
  calls: number;
  results: number;
  images: number;
}

type Json = Record<string, unknown>;

function lines(path: string): Json[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        const value: Json = JSON.parse(line);
        return [value];
      } catch {
        return [];
      }
    });
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** Counts what an imported session holds, without the results that were made up for calls without one. */
export function countImported(path: string): ConversationCount {
  const messages = lines(path).filter(({ type }) => type === "message");
  const texts = messages.map(({ message }) => JSON.stringify(message));
  const of = (role: string) => texts.filter((text) => text.startsWith(`{"role":"${role}"`));
  return {
    users: of("user").length,
    replies: of("assistant").length,
    calls: count(of("assistant").join("\n"), /\{"type":"tool_call","id":/g),
    results: of("tool_result").filter((text) => !text.includes('"outcome":"interrupted"')).length,
    images: count(texts.join("\n"), /"type":"image"/g),
  };
}

/** What the fixtures of `foreign-fixtures.ts` hold on their active branch, from their lines; of an agent that writes JSON lines. */
export function countSource(
  agent: "claude-code" | "codex" | "pi" | "gemini",
  path: string,
): ConversationCount {
  const all = lines(path).map((line) => JSON.stringify(line));
  const kept = all.filter((line) => !/abandoned|taken back/.test(line));
  const text = kept.join("\n");
  switch (agent) {
    case "claude-code":
      return {
        users: kept.filter(
          (line) =>
            line.includes('"role":"user"') &&
            !/"isMeta"|"isCompactSummary"|<command-name>|"tool_result"/.test(line),
        ).length,
        replies: new Set(text.match(/"id":"msg_\w+"/g)).size,
        calls: count(text, /"type":"tool_use"/g),
        results: count(text, /"type":"tool_result"/g),
        images: count(text, /"type":"image"/g),
      };
    case "codex": {
      const items = kept.filter((line) => line.includes('"type":"response_item"'));
      const names = items.map((line) =>
        /"(?:input_text|input_image)"/.test(line) && !/environment_context|"developer"/.test(line)
          ? "u"
          : /_call_output"/.test(line)
            ? "o"
            : /"(?:output_text|reasoning|function_call|custom_tool_call)"/.test(line)
              ? "a"
              : "",
      );
      const answered = count(text, /_call_output"/g) - count(text, /"call_id":"gone"/g);
      return {
        users: names.filter((name) => name === "u").length,
        replies: count(names.join(""), /a+/g),
        calls: count(text, /"type":"(?:function|custom_tool)_call"/g),
        results: answered,
        images: count(text, /"type":"input_image"/g),
      };
    }
    case "pi":
      return {
        users: count(text, /"role":"(?:user|bashExecution)"/g),
        replies: count(text, /"role":"assistant"/g),
        calls: count(text, /"type":"toolCall"/g),
        results: count(text, /"role":"toolResult"/g),
        images: count(text, /"type":"image"/g),
      };
    case "gemini": {
      const replies = new Map(
        kept.flatMap((line) => {
          const id = /"id":"(z\w+)"/.exec(line)?.[1];
          return id !== undefined && line.includes('"type":"gemini"') ? [[id, line] as const] : [];
        }),
      );
      const last = [...replies.values()].join("\n");
      return {
        users: kept.filter(
          (line) => line.includes('"type":"user"') && !/session_context|functionResponse/.test(line),
        ).length,
        replies: replies.size,
        calls: count(last, /"args":/g),
        results: count(last, /"functionResponse":/g),
        images: count(text, /"inlineData"/g),
      };
    }
  }
}
