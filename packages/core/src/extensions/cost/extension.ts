import type { HarnessExtension, SessionAddition, SessionScope } from "../../harness/types.ts";
import { now } from "../../infrastructure/runtime.ts";
import type { ProviderEvent, StreamFunction } from "../../provider/types.ts";
import type { Usage } from "../../types.ts";
import type { RequestRecorder } from "./request-recorder.ts";

/** Keeps what each request of a session has cost, and why. */
export function createCost(): HarnessExtension {
  return { name: "cost", openSession: (scope) => new CostOfSession(scope), close() {} };
}

class CostOfSession implements SessionAddition {
  private recorder: RequestRecorder | undefined;

  constructor(private readonly scope: SessionScope) {}

  wrapRequests(stream: StreamFunction): StreamFunction {
    return (model, context, options) => {
      const sentMs = now();
      // The run adds further messages to the same list.
      const { messages } = context;
      const request = { model, context: { ...context, messages: [...messages] }, options, sentMs };
      const answer = stream(model, context, options);
      let usage: Usage | undefined;
      const observe = (event: ProviderEvent) => {
        // A second start means that the request is repeated: what was charged for the first one is a request as well.
        if (event.type === "start") usage = this.record(request, usage);
        else if (event.type === "usage") usage = event.usage;
        else if (event.type === "done")
          this.record(request, hasTokens(event.message.usage) ? event.message.usage : usage);
        else if (event.type === "error") this.record(request, usage);
      };
      answer.subscribe(observe);
      return answer;
    };
  }

  /** Loaded when the first request has ended; synchronously, so that it is saved before the reply is. */
  private record(request: Parameters<RequestRecorder["record"]>[0], usage: Usage | undefined): undefined {
    if (usage === undefined || !hasTokens(usage)) return;
    if (this.recorder === undefined) {
      const {
        RequestRecorder: Recorder,
      }: typeof import("./request-recorder.ts") = require("./request-recorder.ts");
      this.recorder = new Recorder(this.scope);
    }
    this.recorder.record(request, usage);
  }
}

function hasTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): boolean {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens > 0;
}
