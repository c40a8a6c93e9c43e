import { asRecord } from "../../../core/src/provider/wire-format.ts";
import * as completions from "../../../core/test/support/compatible-answers.ts";
import { type Reply, type SseServer, startSseServer } from "../../../core/test/support/sse-server.ts";
import { GOOD_SUMMARY } from "../../../core/test/support/summaries.ts";
import { type AskedRequest, readAskedRequest } from "./asked-request.ts";
import { compatibleReply, writeUserConfig } from "./compatible-service.ts";
import type { TemporaryProject } from "./temporary-project.ts";
import {
  ANTHROPIC_SERVICE,
  OPENAI_SERVICE,
  type VendorAnswer,
  type VendorService,
} from "./vendor-service.ts";

/** One of the ways to reach a model, for a loopback server that counts the tokens it receives. */
export interface CountedService {
  name: "anthropic" | "openai" | "compatible";
  /** The id of one of its models. */
  model: string;
  reply(answer: VendorAnswer): Reply;
  /** How it refuses a request that is too long. */
  overflow(tokens: number, window: number): Reply;
  /** The `provider` of a configuration that selects the server; `more` has further settings. */
  provider(serverUrl: string, more?: object): object;
}

export const ANTHROPIC: CountedService = vendor(ANTHROPIC_SERVICE, "claude-sonnet-4-20250514");
export const OPENAI: CountedService = vendor(OPENAI_SERVICE, "gpt-4o");

/** A llama.cpp server. */
export const COMPATIBLE: CountedService = {
  name: "compatible",
  model: "local/qwen3",
  reply: compatibleReply,
  overflow(tokens, window) {
    const message = `request (${tokens} tokens) exceeds the available context size (${window} tokens), try increasing it`;
    const counts = { n_prompt_tokens: tokens, n_ctx: window };
    return completions.jsonReply(400, {
      error: { code: 400, message, type: "exceed_context_size_error", ...counts },
    });
  },
  provider: (url, more) => ({ compatible: { local: { baseUrl: `${url}/v1`, models: ["qwen3"], ...more } } }),
};

export const COUNTED_SERVICES = [ANTHROPIC, OPENAI, COMPATIBLE];

function vendor(service: VendorService, model: string): CountedService {
  const { name, overflow, pathOfBase } = service;
  return {
    name,
    model,
    reply: (answer) => ({ events: service.events(answer) }),
    overflow,
    provider: (url, more) => ({ [name]: { apiKey: "test-key", baseUrl: `${url}${pathOfBase}`, ...more } }),
  };
}

/** Answers a request; a text is an answer, anything else is the reply itself. */
export type GiveAnswer = (request: AskedRequest) => Given | Promise<Given>;
type Given = string | VendorAnswer | Reply;

export interface CountingModel {
  /** In tokens, as counted by the server; longer requests are refused. */
  window: number;
  /** For requests of a conversation. */
  answer: GiveAnswer;
  /** For requests for a summary; default: a good one. */
  summarize?: GiveAnswer;
}

export interface CountingServer extends SseServer {
  /** All requests, including refused ones. */
  asked: AskedRequest[];
  /** Those of conversations. */
  readonly turns: AskedRequest[];
  /** Those for a summary. */
  readonly summaries: AskedRequest[];
  /** How many were refused for their length. */
  refused: number;
}

/**
 * A server that counts a token per four characters of a request, reports the count in `usage`, and refuses
 * what is too long.
 */
export async function startCountingServer(
  service: CountedService,
  { window, answer, summarize = () => GOOD_SUMMARY }: CountingModel,
): Promise<CountingServer> {
  const asked: AskedRequest[] = [];
  const server = await startSseServer(async ({ body }) => {
    const request = readAskedRequest(asRecord(body));
    asked.push(request);
    if (request.tokens > window) {
      counting.refused++;
      return service.overflow(request.tokens, window);
    }
    const given = await (request.isSummary ? summarize : answer)(request);
    return toReply(service, given, request);
  });
  const counting: CountingServer = {
    ...server,
    asked,
    refused: 0,
    get turns() {
      return asked.filter(({ isSummary }) => !isSummary);
    },
    get summaries() {
      return asked.filter(({ isSummary }) => isSummary);
    },
  };
  return counting;
}

function toReply(service: CountedService, given: Given, { tokens }: AskedRequest): Reply {
  const answer = typeof given === "string" ? { text: given } : given;
  if (!("text" in answer)) return answer;
  const output = Math.ceil(JSON.stringify(answer).length / 4);
  return service.reply({ usage: { input: tokens, output }, ...answer });
}

export interface ModelConfig extends Record<string, unknown> {
  /** The model's limits, if they differ from the known ones. */
  limits?: object | undefined;
  /** Further settings of the provider. */
  access?: object;
}

/** Configures the server's model. */
export function configureModel(
  place: TemporaryProject,
  service: CountedService,
  { url }: SseServer,
  { limits, access, ...config }: ModelConfig = {},
): void {
  const models = limits && { models: [{ id: service.model, ...limits }] };
  writeUserConfig(place, {
    model: service.model,
    provider: service.provider(url, access),
    ...models,
    // Disables the knowledge request before each compaction, which other tests cover.
    knowledge: { flushBeforeCompaction: false },
    ...config,
  });
}
