import Ajv from "ajv/dist/2020.js";

// Version 1.7 of the Agent Trajectory Interchange Format, written from its specification (RFC 0001 of the Harbor
// project) and from what the models of its reference implementation accept: no unknown fields anywhere.

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const extra = { type: "object" };

function closed(required: readonly string[], properties: Record<string, object>): object {
  return { type: "object", required, properties, additionalProperties: false };
}

const part = {
  oneOf: [
    closed(["type", "text"], { type: { const: "text" }, text }),
    closed(["type", "source"], {
      type: { const: "image" },
      source: closed(["media_type", "path"], {
        media_type: { enum: ["image/jpeg", "image/png", "image/gif", "image/webp"] },
        path: { type: "string", minLength: 1 },
      }),
    }),
  ],
};

const content = { anyOf: [text, { type: "array", items: part }] };

const step = closed(["step_id", "source", "message"], {
  step_id: { type: "integer", minimum: 1 },
  timestamp: text,
  source: { enum: ["system", "user", "agent"] },
  model_name: text,
  reasoning_effort: { type: ["string", "number"] },
  message: content,
  reasoning_content: text,
  tool_calls: {
    type: "array",
    items: closed(["tool_call_id", "function_name", "arguments"], {
      tool_call_id: text,
      function_name: text,
      arguments: { type: "object" },
      extra,
    }),
  },
  observation: closed(["results"], {
    results: {
      type: "array",
      items: closed([], {
        source_call_id: text,
        content,
        subagent_trajectory_ref: {
          type: "array",
          items: closed([], { trajectory_id: text, trajectory_path: text, session_id: text, extra }),
        },
        extra,
      }),
    },
  }),
  metrics: closed([], {
    prompt_tokens: count,
    completion_tokens: count,
    cached_tokens: count,
    cost_usd: { type: "number" },
    prompt_token_ids: { type: "array" },
    completion_token_ids: { type: "array" },
    logprobs: { type: "array" },
    extra,
  }),
  is_copied_context: { type: "boolean" },
  llm_call_count: count,
  extra,
});

const TRAJECTORY_SCHEMA = {
  $id: "trajectory",
  ...closed(["schema_version", "agent", "steps"], {
    schema_version: { enum: [0, 1, 2, 3, 4, 5, 6, 7].map((minor) => `ATIF-v1.${minor}`) },
    session_id: text,
    trajectory_id: text,
    agent: closed(["name", "version"], {
      name: text,
      version: text,
      model_name: text,
      tool_definitions: { type: "array", items: { type: "object" } },
      extra,
    }),
    steps: { type: "array", minItems: 1, items: step },
    notes: text,
    final_metrics: closed([], {
      total_prompt_tokens: count,
      total_completion_tokens: count,
      total_cached_tokens: count,
      total_cost_usd: { type: "number" },
      total_steps: count,
      extra,
    }),
    continued_trajectory_ref: text,
    extra,
    subagent_trajectories: { type: "array", items: { $ref: "trajectory" } },
  }),
};

interface CheckedTrajectory {
  trajectory_id?: string;
  steps: CheckedStep[];
  final_metrics?: { total_prompt_tokens?: number; total_completion_tokens?: number; total_steps?: number };
  subagent_trajectories?: CheckedTrajectory[];
}

interface CheckedStep {
  step_id: number;
  timestamp?: string;
  source: string;
  tool_calls?: { tool_call_id: string }[];
  observation?: {
    results: {
      source_call_id?: string;
      subagent_trajectory_ref?: { trajectory_id?: string; trajectory_path?: string }[];
    }[];
  };
  metrics?: { prompt_tokens?: number; completion_tokens?: number };
}

const isTrajectory = new Ajv({ strict: false }).compile<CheckedTrajectory>(TRAJECTORY_SCHEMA);

/** What the format's schema and its rules beyond the schema forbid in a document; empty if it is valid. */
export function findTrajectoryProblems(document: unknown): string[] {
  if (isTrajectory(document)) return findBrokenRules(document, "");
  return (isTrajectory.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const AGENT_FIELDS = ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"];

function findBrokenRules(trajectory: CheckedTrajectory, place: string): string[] {
  const { steps, subagent_trajectories: children = [], final_metrics: totals = {} } = trajectory;
  const ids = children.map(({ trajectory_id }) => trajectory_id);
  const sum = (field: "prompt_tokens" | "completion_tokens") =>
    steps.reduce((total, { metrics }) => total + (metrics?.[field] ?? 0), 0);
  const problems = [
    ids.includes(undefined) && "a sub-agent without trajectory_id",
    new Set(ids).size < ids.length && "two sub-agents with one trajectory_id",
    totals.total_steps !== undefined && totals.total_steps !== steps.length && "total_steps is wrong",
    (totals.total_prompt_tokens ?? sum("prompt_tokens")) !== sum("prompt_tokens") &&
      "the prompt's sum is wrong",
    (totals.total_completion_tokens ?? sum("completion_tokens")) !== sum("completion_tokens") &&
      "the completions' sum is wrong",
    ...steps.flatMap((each, index) => findStepProblems(each, index, ids)),
  ];
  return [
    ...problems.flatMap((problem) => (problem ? [`${place}/: ${problem}`] : [])),
    ...children.flatMap((child) => findBrokenRules(child, `${place}/${child.trajectory_id}`)),
  ];
}

function findStepProblems(
  each: CheckedStep,
  index: number,
  children: readonly (string | undefined)[],
): (string | false)[] {
  const {
    step_id: id,
    timestamp,
    source,
    tool_calls: calls = [],
    observation: { results } = { results: [] },
  } = each;
  const callIds = calls.map(({ tool_call_id }) => tool_call_id);
  const references = results.flatMap(({ subagent_trajectory_ref }) => subagent_trajectory_ref ?? []);
  return [
    id !== index + 1 && `step ${id} at ${index}`,
    timestamp !== undefined && Number.isNaN(Date.parse(timestamp)) && `step ${id} has no valid time`,
    source !== "agent" && AGENT_FIELDS.some((field) => field in each) && `step ${id} has fields of an agent`,
    new Set(callIds).size < callIds.length && `step ${id} has two calls with one id`,
    results.some(({ source_call_id: call }) => call !== undefined && !callIds.includes(call)) &&
      `step ${id} has a result of another step's call`,
    references.some(
      ({ trajectory_id, trajectory_path }) => !trajectory_path && !children.includes(trajectory_id),
    ) && `step ${id} refers to no sub-agent`,
  ];
}
