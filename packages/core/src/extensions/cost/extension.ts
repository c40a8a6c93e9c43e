import { estimateMostCost } from "../../agent/budget.ts";
import { computeCost } from "../../agent/cost.ts";
import type { HarnessExtension, SessionAddition, SessionScope } from "../../harness/types.ts";
import { type Environment, now } from "../../infrastructure/runtime.ts";
import {
  createProviderStream,
  type ProviderEvent,
  type StreamFunction,
  toProviderError,
} from "../../provider/types.ts";
import type { Usage } from "../../types.ts";
import type { RequestRecorder } from "./request-recorder.ts";
import type { Spending, SpendingLimits } from "./spending.ts";

type RecordedRequest = Parameters<RequestRecorder["record"]>[0];

/** Where costs count, and what limits them. */
interface CostOptions {
  /** The user's budget, if there is one. */
  budget: SpendingLimits | undefined;
  /** False: without a budget, nothing is written. */
  isKept: boolean;
  environment: Environment;
  /** Of the project, absolute and real. */
  root: string;
}

/** Keeps what each request of a session has cost, and why, and holds all of them to the user's budget. */
export function createCost(options: CostOptions): HarnessExtension {
  const { budget, isKept, environment, root } = options;
  let spending: Spending | undefined;
  const openSpending = () => {
    if (!isKept && budget === undefined) return undefined;
    if (spending === undefined) {
      const { Spending: Opened }: typeof import("./spending.ts") = require("./spending.ts");
      spending = new Opened(budget ?? {}, { environment, root });
    }
    return spending;
  };
  const hasBudget = budget?.day !== undefined || budget?.project !== undefined;
  return {
    name: "cost",
    openSession: (scope) => new CostOfSession(scope, openSpending, hasBudget),
    close() {},
  };
}

class CostOfSession implements SessionAddition {
  private recorder: RequestRecorder | undefined;

  constructor(
    private readonly scope: SessionScope,
    private readonly openSpending: () => Spending | undefined,
    private readonly hasBudget: boolean,
  ) {}

  wrapRequests(stream: StreamFunction): StreamFunction {
    const observed = this.observeRequests(stream);
    return this.hasBudget ? this.limitRequests(observed) : observed;
  }

  private observeRequests(stream: StreamFunction): StreamFunction {
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

  /** Makes no request once the budget is spent. */
  private limitRequests(stream: StreamFunction): StreamFunction {
    return (model, context, options) => {
      const limited = createProviderStream();
      const { signal = new AbortController().signal } = options;
      const spending = this.openSpending();
      const admitted = spending?.admit(estimateMostCost(model, context), signal) ?? Promise.resolve(() => {});
      admitted.then(
        (release) => {
          // It ends after its cost was added.
          const answer = stream(model, context, options);
          void answer.consume((event) => limited.push(event)).then(release, release);
        },
        (error: unknown) => limited.push({ type: "error", error: toProviderError(error) }),
      );
      return limited;
    };
  }

  /** Loaded when the first request has ended; synchronously, so that it is saved before the reply is. */
  private record(request: RecordedRequest, usage: Usage | undefined): undefined {
    if (usage === undefined || !hasTokens(usage)) return;
    this.openSpending()?.add(computeCost(usage, request.model));
    if (this.recorder === undefined) {
      const { RequestRecorder: Recorder }: typeof import("./request-recorder.ts") =
        require("./request-recorder.ts");
      this.recorder = new Recorder(this.scope);
    }
    this.recorder.record(request, usage);
  }
}

function hasTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): boolean {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens > 0;
}
