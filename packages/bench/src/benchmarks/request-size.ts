import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { textAnswer } from "../stage/answers.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { runPrint } from "../stage/print-run.ts";

const BUDGET_KILOBYTES = 12;

/** The bytes of the first request: system prompt, tools and a short prompt. */
export const requestSize: Benchmark = {
  name: "request-size",
  about: "bytes of the first request",
  async measure(stage) {
    using server = new MessagesServer();
    server.begin([textAnswer("Done.")]);
    await runPrint(stage, { program: stage.checkout, server });
    const [request] = server.requests;
    if (!request) throw new Error("No request came.");
    const { system, tools }: Record<string, unknown> = JSON.parse(request.body);
    return [
      { ...toFigure("first request, whole body", request.body), budget: BUDGET_KILOBYTES },
      toFigure("first request, system prompt", JSON.stringify(system)),
      toFigure("first request, tools", JSON.stringify(tools)),
    ];
  },
};

/** In KB of 1,024 bytes. Every run sends the same, so one is enough. */
function toFigure(name: string, text: string): Figure {
  return { name, unit: "KB", rule: { kind: "amount" }, measured: [Buffer.byteLength(text) / 1024] };
}
