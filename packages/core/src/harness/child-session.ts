import type { Approve } from "../agent/types.ts";
import type { AgentDefinition } from "../extensions/agents/definition.ts";
import { toSessionRole } from "../extensions/agents/session-role.ts";
import type { AgentCall, AgentSession } from "../extensions/agents/task-tool.ts";
import { SessionJobs } from "../jobs/session-jobs.ts";
import type { Recording } from "../provider/scripted.ts";
import type { ApprovalDecision } from "../tool/types.ts";
import type { EditorFiles } from "../tools/workspace.ts";
import type { Approvals } from "./approve.ts";
import { type ComposedSession, composeSession } from "./compose-session.ts";
import { UsageError } from "./errors.ts";
import { assertPriced, openModel } from "./models.ts";
import type { SessionCommands } from "./session-commands.ts";
import type { ModelChoice } from "./types.ts";

type SessionOptions = Parameters<typeof composeSession>[0];

/** What the sessions of sub-agents take over from the session that starts them. */
export interface ParentSession extends Pick<Approvals, "approval" | "approve" | "protectedAccess"> {
  composed: ComposedSession;
  commands: Pick<SessionCommands, "sandbox" | "temporaryDirectory" | "networkUsers">;
  recording: Recording | undefined;
  retryForMs: number | undefined;
  isAttended: boolean;
  editor: EditorFiles | undefined;
  /** How many sessions are above it. */
  depth: number;
}

/** What all sessions of a harness have in common. */
type CommonOptions = Omit<
  SessionOptions,
  | "start"
  | "redactor"
  | "model"
  | "effort"
  | "commands"
  | "approve"
  | "currentMode"
  | "currentRules"
  | "protectedAccess"
  | "isAttended"
  | "child"
>;

/** The session of a sub-agent, and what its own sub-agents take over from it. */
export interface OpenedChild {
  child: AgentSession;
  asParent: ParentSession;
}

/**
 * Opens a session for a sub-agent: its own conversation, with the sandbox, the approvals and the limits of its parent.
 * @throws UsageError for a configured model that cannot be used, Error for a definition that leaves it no tools.
 */
export async function openChildSession(
  call: AgentCall,
  parent: ParentSession,
  common: CommonOptions,
): Promise<OpenedChild> {
  const { definition, run } = call;
  const { approval, protectedAccess, composed, retryForMs, isAttended, recording, editor } = parent;
  const { session } = composed;
  const { choice, remarks } = await chooseChildModel(definition, parent, {
    ...common,
    maxCost: run?.budget.limits.maxCost,
  });
  const commands = { ...parent.commands, jobs: new SessionJobs() };
  const depth = parent.depth + 1;
  let rejection: ApprovalDecision | undefined;
  const approve: Approve = async (request, handle) => {
    const id = opened.session.sessionId;
    const agent = { id, name: definition.name, description: call.description };
    const answer = await parent.approve({ ...request, agent }, handle);
    if (typeof answer === "object" && (answer.unattended || answer.endTurn)) rejection = answer;
    return answer;
  };
  const opened = await composeSession({
    ...common,
    start: { fresh: true },
    redactor: composed.redactor,
    model: choice,
    effort: definition.effort ?? composed.session.effort,
    retryForMs,
    recording,
    commands,
    askUser: undefined,
    editor,
    currentMode: () => approval.mode,
    currentRules: () => approval.rules,
    protectedAccess,
    isAttended,
    approve,
    maxCost: run?.budget.limits.maxCost,
    child: {
      agent: { name: definition.name, depth },
      origin: {
        parentSession: session.sessionId,
        ...(session.leafId !== null && { parentEntry: session.leafId }),
        agent: definition.name,
      },
      ...toSessionRole(definition),
      run,
    },
  });
  return {
    child: {
      session: opened.session,
      model: opened.model,
      files: opened.files,
      remarks,
      rejection: () => rejection,
      async close() {
        opened.close();
        await commands.jobs.endAll();
      },
    },
    asParent: { ...parent, composed: opened, commands, approve, depth },
  };
}

interface ChildModelOptions extends CommonOptions {
  maxCost: number | undefined;
}

/**
 * The user's setting, else the model of the definition if it can be used here, else the parent's: definitions are
 * shared between agents that have other models.
 */
async function chooseChildModel(
  { name, model }: AgentDefinition,
  { composed }: ParentSession,
  { cwd, loaded: { config }, maxCost, extensions }: ChildModelOptions,
): Promise<{ choice: ModelChoice; remarks: string[] }> {
  const own = composed.modelChoice();
  const setting = config.agents?.[name];
  const configured = setting ? setting.model : undefined;
  const wanted = configured ?? model;
  if (wanted === undefined || wanted === own.model.id) return { choice: own, remarks: [] };
  try {
    const choice = await openModel(wanted, {
      ...{ cwd, config, setting: `agents.${name}.model` },
      providers: extensions?.flatMap(({ providers = [] }) => providers),
    });
    assertPriced(choice.model, { maxCost, budget: config.budget });
    return { choice, remarks: [] };
  } catch (error) {
    if (configured !== undefined || !(error instanceof UsageError)) throw error;
    const remark = `Its model ${JSON.stringify(wanted)} cannot be used here, so it ran with ${own.model.id}.`;
    return { choice: own, remarks: [remark] };
  }
}
