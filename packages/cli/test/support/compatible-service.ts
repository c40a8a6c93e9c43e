import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as completions from "../../../core/test/support/compatible-answers.ts";
import type { Reply } from "../../../core/test/support/sse-server.ts";
import type { TemporaryProject } from "./temporary-project.ts";
import type { VendorAnswer } from "./vendor-service.ts";

/** An answer as a Chat Completions server sends it; the arguments of each call arrive in two pieces. */
export function compatibleReply({ text, calls = [], usage }: VendorAnswer): Reply {
  const chunks = calls.flatMap(({ id, name, input }, index) => {
    const json = JSON.stringify(input);
    return [
      completions.callChunk(completions.callEntry(json.slice(0, 4), { index, id, name })),
      completions.callChunk(completions.callEntry(json.slice(4), { index })),
    ];
  });
  return completions.answerReply([
    completions.chunk({ role: "assistant", content: "" }),
    ...(text === "" ? [] : [completions.textChunk(text)]),
    ...chunks,
    completions.finishChunk(calls.length > 0 ? "tool_calls" : "stop"),
    completions.usageChunk(
      usage && {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
      },
    ),
  ]);
}

/** Writes the configuration in the user's home directory, readable only by its owner. */
export function writeUserConfig({ home }: TemporaryProject, config: object): string {
  const path = join(home, ".config", "diligent", "diligent.jsonc");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}
