import { readFurtherWords } from "../../approval/bash/command-scope.ts";
import { describeGrant, type Grant, isGranted } from "../../approval/grants.ts";
import type { Skill } from "../../extensions/skills/skill-index.ts";
import type { UserQuestion } from "../../types.ts";
import type { SessionScope } from "../types.ts";

const ASK = "Ask each time";
const SESSION = "Allow in this session";
const PROJECT = "Always allow in this project";

/** Asks the user once for what skills want to use without approval. */
export class SkillGrants {
  /** The skills that were asked about in this session. */
  private readonly asked = new Set<string>();

  constructor(private readonly scope: SessionScope) {}

  /** True if loading the skill may ask the user. */
  mayAsk(skill: Skill): boolean {
    const { askUser, grants } = this.scope;
    return askUser !== undefined && grants !== undefined && toGrants(skill, this.scope.cwd).length > 0;
  }

  /** Asks about what is not allowed yet, before the skill is used for the first time. */
  async confirm(skill: Skill, signal: AbortSignal): Promise<void> {
    const { askUser, grants, mode, cwd } = this.scope;
    if (askUser === undefined || grants === undefined || this.asked.has(skill.name)) return;
    // Nothing is asked in auto, and nothing runs in plan and deny.
    if (!["ask", "accept-edits"].includes(mode())) return;
    this.asked.add(skill.name);
    const known = await grants.list();
    const wanted = toGrants(skill, cwd).filter((grant) => !isGranted(grant, known));
    if (wanted.length === 0) return;
    const answers = await askUser([toQuestion(skill, wanted)], { signal });
    const answer = answers?.[0]?.[0];
    if (answer === SESSION) await grants.addForSession(wanted);
    if (answer === PROJECT) await grants.addForProject(wanted);
  }
}

function toQuestion({ name }: Skill, wanted: readonly Grant[]): UserQuestion {
  const listed = wanted.map(describeGrant).join("; ");
  return {
    header: "Skill",
    question: `The skill ${name} asks to run without a question: ${listed}`,
    // The first is what an accidental Enter chooses.
    options: [
      { label: ASK, description: "as any other command" },
      { label: SESSION, description: "until you quit, and when you resume it" },
      { label: PROJECT, description: "/permissions lists and revokes it" },
    ],
  };
}

const PLAIN_WORDS = /^[\w@%+=:,./-]+(?: [\w@%+=:,./-]+)*$/;

/**
 * What `allowed-tools` can allow: commands as `Bash(git add:*)` or `Bash(npm test)`, in plain words. A prefix allows what
 * a wider answer to a question allows. Reading and editing in the project never ask, and nothing else can be allowed.
 */
function toGrants({ allowedTools }: Skill, directory: string): Grant[] {
  return allowedTools.flatMap((tool): Grant[] => {
    const [, pattern = ""] = /^Bash\((.*)\)$/i.exec(tool.trim()) ?? [];
    const [, text = "", isPrefix] = /^(.*?)(:\*| \*)?$/s.exec(pattern.trim()) ?? [];
    if (!PLAIN_WORDS.test(text)) return [];
    const words = text.split(" ");
    if (isPrefix === undefined) return [{ kind: "command", directory, words }];
    // A prefix of any other program would allow nothing: its further words could run another command.
    const isUseful = readFurtherWords(words, words, () => undefined) !== undefined;
    return isUseful ? [{ kind: "command_prefix", directory, words }] : [];
  });
}
