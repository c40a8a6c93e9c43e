import type { ApprovalContext, ApprovalRequest, Approve } from "@diligent/core";
import { GrantStore } from "@diligent/core/tools";
import { type ApproveOptions, createApprove } from "../../../core/src/harness/approve.ts";
import type { TemporaryProject } from "./temporary-project.ts";

export type ApproverOptions = Partial<Omit<ApproveOptions, "context">> &
  Pick<ApprovalContext, "mode" | "rules" | "environment">;

/** For requests for which no approval event is expected. */
export const UNHEARD = { announce: () => "approval-1" };

/** The decisions in a project; each uses the grants that are stored for it. */
export function createApprover(
  place: TemporaryProject,
  { mode, rules, environment, ...options }: ApproverOptions,
): Approve {
  const context = { root: place.project, cwd: place.project, mode, rules, environment };
  return createApprove({ grants: createStore(place), ...options, context });
}

function createStore({ top, project }: TemporaryProject): GrantStore {
  return new GrantStore({ environment: { XDG_STATE_HOME: `${top}/state` }, root: project });
}

/** A decision, and the gates of its events. */
export async function decideWith(approve: Approve, request: ApprovalRequest) {
  const gates: string[] = [];
  const decision = await approve(request, { announce: (gate) => `approval-${gates.push(gate)}` });
  return { decision, gates };
}

export function bash(command: string): ApprovalRequest {
  return { permission: "execute", toolName: "bash", description: `bash: ${command}`, details: { command } };
}

export function reading(path: string): ApprovalRequest {
  return { permission: "read", toolName: "read", description: `read: ${path}`, details: { path } };
}
