import { belongsToProject } from "../../extensions/definitions/directories.ts";
import { findSkills } from "../../extensions/skills/find-skills.ts";
import type { SessionSkills } from "../../extensions/skills/session-skills.ts";
import type { Skill, SkippedSkill } from "../../extensions/skills/skill-index.ts";
import { composeSkillSection } from "../../extensions/skills/skill-section.ts";
import { SKILL_TRUST, toSkillItem } from "../../extensions/skills/trust.ts";
import type { Tool } from "../../tool/types.ts";
import { createSkillTool, type SkillSource } from "../../tools/index.ts";
import { describeError, UsageError } from "../errors.ts";
import type { ExtensionPlace } from "../extensions.ts";
import type { HarnessExtension, Notice, PromptCommand, SessionScope } from "../types.ts";
import type { ListedToolGrants } from "./listed-tool-grants.ts";

// Of the usable window; it includes the tool.
const PROMPT_SHARE = 0.01;
const TOOL_TOKENS = 90;

/** Skills of the user and, where they are trusted, of the project. */
export async function openSkills(place: ExtensionPlace): Promise<HarnessExtension> {
  const { cwd, environment, loaded, isPersistent } = place;
  const root = loaded.projectRoot;
  const { active: plugins } = await place.plugins();
  const { skills: found, skipped } = await findSkills({ cwd, root, environment, plugins }, { isPersistent });
  const skills = await selectTrusted(found, place);
  const sessions = new Map<string, UsedSkills>();
  const { maxContextTokens = Number.POSITIVE_INFINITY } = loaded.config.compaction ?? {};
  return {
    name: "skills",
    commands: skills
      .filter(({ isUserInvocable }) => isUserInvocable)
      .map((skill) => toCommand(skill, sessions)),
    untrustedCommands: found.filter((skill) => !skills.includes(skill)).map(({ name }) => `skill:${name}`),
    openSession(scope) {
      const used = new UsedSkills(skills, scope);
      sessions.set(scope.sessionId, used);
      const tokens = Math.min(scope.contextWindow, maxContextTokens) * PROMPT_SHARE - TOOL_TOKENS;
      const promptSection = composeSkillSection(skills, tokens);
      return {
        ...(promptSection !== undefined && { promptSection, tools: [createTool(used)] }),
        notices: describeSkipped(skipped.length),
        close: () => void sessions.delete(scope.sessionId),
      };
    },
    onEvent({ type }) {
      // Afterwards, the text of a skill may be missing from the context.
      if (type === "compaction_end" || type === "prune")
        for (const used of sessions.values()) used.forgetGiven();
    },
    close() {},
  };
}

/** A skill of the user or the project, with what the user should know about it. */
export interface ListedSkill extends Skill {
  /** `untrusted`: it belongs to the project and is not used. */
  state: "ready" | "untrusted";
}

/** All skills for a directory, those that are not trusted and those that cannot be used, too. Nothing is written. */
export async function listSkills(
  place: Pick<ExtensionPlace, "cwd" | "environment" | "loaded" | "trust" | "plugins">,
): Promise<{ skills: ListedSkill[]; skipped: readonly SkippedSkill[] }> {
  const { cwd, environment, loaded } = place;
  const { active: plugins } = await place.plugins();
  const { skills, skipped } = await findSkills(
    { cwd, root: loaded.projectRoot, environment, plugins },
    { isPersistent: false },
  );
  const ready = new Set(await selectTrusted(skills, place));
  return {
    skills: skills.map((skill) => ({ ...skill, state: ready.has(skill) ? "ready" : "untrusted" })),
    skipped,
  };
}

async function selectTrusted(
  found: readonly Skill[],
  place: Pick<ExtensionPlace, "loaded" | "trust">,
): Promise<Skill[]> {
  const root = place.loaded.projectRoot;
  const ofProject = found.filter(belongsToProject);
  if (ofProject.length === 0) return [...found];
  const items = ofProject.map((skill) => toSkillItem(skill, root));
  const trusted = new Set(
    (await (await place.trust()).selectTrusted(SKILL_TRUST, items)).map(({ skill }) => skill),
  );
  return found.filter((skill) => !belongsToProject(skill) || trusted.has(skill));
}

function describeSkipped(count: number): Notice[] {
  if (count === 0) return [];
  const what = count === 1 ? "1 skill is" : `${count} skills are`;
  const message = `${what} not loaded; "diligent skills list" says why`;
  return [{ level: "info", code: "skills_not_loaded", message }];
}

/** The skills of a session that is open. Most sessions use none of them, so the code for that is loaded with the first. */
class UsedSkills {
  private opened: Promise<{ own: SessionSkills; grants: ListedToolGrants }> | undefined;

  constructor(
    private readonly skills: readonly Skill[],
    private readonly scope: SessionScope,
  ) {}

  open(): Promise<{ own: SessionSkills; grants: ListedToolGrants }> {
    this.opened ??= this.load();
    return this.opened;
  }

  /** True if loading one of them may ask the user. */
  get mayAsk(): boolean {
    const { askUser, grants } = this.scope;
    return (
      askUser !== undefined &&
      grants !== undefined &&
      this.skills.some(({ allowedTools }) => allowedTools.length > 0)
    );
  }

  forgetGiven(): void {
    void this.opened?.then(({ own }) => own.forgetGiven());
  }

  private async load() {
    const [{ SessionSkills }, { ListedToolGrants }] = await Promise.all([
      import("../../extensions/skills/session-skills.ts"),
      import("./listed-tool-grants.ts"),
    ]);
    return {
      own: new SessionSkills(this.skills, this.scope),
      grants: new ListedToolGrants("skill", this.scope),
    };
  }
}

/** The tool that loads them; the user may be asked first. */
function createTool(used: UsedSkills): Tool {
  const load: SkillSource["load"] = async (name, signal) => {
    const { own, grants } = await used.open();
    const skill = own.findForModel(name);
    if (skill !== undefined) await grants.confirm(skill, signal);
    return own.load(name);
  };
  const read: SkillSource["read"] = async (...call) => (await used.open()).own.read(...call);
  return createSkillTool({ load, read }, { runsAlone: used.mayAsk });
}

function toCommand(skill: Skill, sessions: ReadonlyMap<string, UsedSkills>): PromptCommand {
  return {
    name: `skill:${skill.name}`,
    description: skill.description,
    argumentHint: skill.argumentHint,
    source: skill.shown,
    async toPrompt(args: string, signal: AbortSignal, { sessionId }: SessionScope) {
      const used = sessions.get(sessionId);
      if (used === undefined) throw new UsageError(`/skill:${skill.name}: this session is closed.`);
      try {
        const { own, grants } = await used.open();
        const text = await own.toPrompt(skill, args);
        await grants.confirm(skill, signal);
        return { text };
      } catch (error) {
        throw new UsageError(`/skill:${skill.name}: ${describeError(error)}`);
      }
    },
  };
}
