import type { Benchmark } from "../benchmark.ts";
import { append } from "./append.ts";
import { approval } from "./approval.ts";
import { checkpoint } from "./checkpoint.ts";
import { compaction } from "./compaction.ts";
import { firstRequest, firstRequestOpenAI } from "./first-request.ts";
import { grep } from "./grep.ts";
import { knowledge } from "./knowledge.ts";
import { list } from "./list.ts";
import { memory } from "./memory.ts";
import { requestSize } from "./request-size.ts";
import { resume } from "./resume.ts";
import { sandbox } from "./sandbox.ts";
import { screenFlood } from "./screen-flood.ts";
import { screenIdle } from "./screen-idle.ts";
import { screenKeys } from "./screen-keys.ts";
import { screenMemory } from "./screen-memory.ts";
import { screenStart } from "./screen-start.ts";
import { screenStream } from "./screen-stream.ts";
import { search } from "./search.ts";
import { streaming } from "./streaming.ts";
import { toolCalls } from "./tool-calls.ts";
import { version } from "./version.ts";

/** All benchmarks, in the order they are run. */
export const BENCHMARKS: readonly Benchmark[] = [
  version,
  firstRequest,
  firstRequestOpenAI,
  toolCalls,
  streaming,
  memory,
  requestSize,
  grep,
  append,
  resume,
  list,
  search,
  approval,
  checkpoint,
  sandbox,
  compaction,
  knowledge,
  screenStart,
  screenStream,
  screenKeys,
  screenIdle,
  screenMemory,
  screenFlood,
];
