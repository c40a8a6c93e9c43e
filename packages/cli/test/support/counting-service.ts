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

/** One of the ways to reach a model, for a server on loopback that counts what it is sent. */
export interface CountedService {
  name: "anthropic" | "openai" | "compatible";
  /** The id of a model of it. */
  model: string;
  reply(answer: VendorAnswer): Reply;
  /** How it refuses a request that is too long. */
  overflow(tokens: number, window: number): Reply;
  /** The `provider` of a configuration that leads to the server; `more` is what else is said of it. */
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

/** Gives the answer to a request; a text is an answer, and what is no answer is the reply itself. */
export type GiveAnswer = (request: AskedRequest) => Given | Promise<Given>;
type Given = string | VendorAnswer | Reply;

export interface CountingModel {
  /** In tokens, as the server counts; a longer request is refused. */
  window: number;
  /** To requests of a conversation. */
  answer: GiveAnswer;
  /** To requests for a summary; a good one when left out. */
  summarize?: GiveAnswer;
}

export interface CountingServer extends SseServer {
  /** All requests, the refused ones included. */
  asked: AskedRequest[];
  /** Those of conversations. */
  readonly turns: AskedRequest[];
  /** Those for a summary. */
  readonly summaries: AskedRequest[];
  /** How many were refused for their length. */
  refused: number;
}

/** A server that counts a token for every four characters of a request, says so in `usage`, and refuses what is too long. */
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
  /** Of the model, where they differ from the known ones. */
  limits?: object | undefined;
  /** What else is said of the provider. */
  access?: object;
}

/** Makes the server's model the configured one. */
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
    // A request before each compaction, which no other test is about.
    knowledge: { flushBeforeCompaction: false },
    ...config,
  });
}
