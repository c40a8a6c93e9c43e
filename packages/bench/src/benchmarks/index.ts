import type { Benchmark } from "../figure.ts";
import { box } from "./box.ts";
import { grep, memory, streaming, toolCalls } from "./calls.ts";
import { compaction, knowledge, recall } from "./context.ts";
import { evidence } from "./evidence.ts";
import { history } from "./history.ts";
import { jobs } from "./jobs.ts";
import { mcp } from "./mcp.ts";
import { replay } from "./replay.ts";
import { rules } from "./rules.ts";
import { approval, checkpoint } from "./safety.ts";
import { screenFlood, screenIdle, screenKeys, screenMemory, screenStream } from "./screen.ts";
import { screenParts } from "./screen-parts.ts";
import { secrets } from "./secrets.ts";
import { append, list, resume, search } from "./session-files.ts";
import { skills } from "./skills.ts";
import { firstRequest, firstRequestOpenAI, requestSize, screenStart, version } from "./start.ts";
import { subagents } from "./subagents.ts";
import { dryRun } from "./try.ts";
import { unasked } from "./unasked.ts";

/** All benchmarks, in execution order. */
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
  history,
  approval,
  unasked,
  checkpoint,
  box,
  dryRun,
  jobs,
  subagents,
  evidence,
  rules,
  replay,
  secrets,
  compaction,
  recall,
  knowledge,
  skills,
  mcp,
  screenStart,
  screenStream,
  screenKeys,
  screenIdle,
  screenMemory,
  screenFlood,
  screenParts,
];
