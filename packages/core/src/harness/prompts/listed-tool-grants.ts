import { readFurtherWords } from "../../approval/bash/command-scope.ts";
import { describeGrant, type Grant, isGranted } from "../../approval/grants.ts";
import type { UserQuestion } from "../../types.ts";
import type { SessionScope } from "../types.ts";

const ASK = "Ask each time";
const SESSION = "Allow in this session";
const PROJECT = "Always allow in this project";

/** A skill or command whose `allowed-tools` list what it wants to use without approval. */
interface ToolLister {
  name: string;
  allowedTools: readonly string[];
}

/** Asks the user once for what skills or commands want to use without approval. */
export class ListedToolGrants {
  /** Those that were asked about in this session, by name. */
  private readonly asked = new Set<string>();

  constructor(
    private readonly kind: "skill" | "command",
    private readonly scope: SessionScope,
  ) {}

  /** Asks about what is not allowed yet, before it is used for the first time. */
  async confirm(lister: ToolLister, signal: AbortSignal): Promise<void> {
    const { askUser, grants, mode, cwd } = this.scope;
    if (askUser === undefined || grants === undefined || this.asked.has(lister.name)) return;
    // Nothing is asked in auto, and nothing runs in plan and deny.
    if (!["ask", "accept-edits"].includes(mode())) return;
    this.asked.add(lister.name);
    const known = await grants.list();
    const wanted = toGrants(lister, cwd).filter((grant) => !isGranted(grant, known));
    if (wanted.length === 0) return;
    const answers = await askUser([toQuestion(this.kind, lister, wanted)], { signal });
    const answer = answers?.[0]?.[0];
    if (answer === SESSION) await grants.addForSession(wanted);
    if (answer === PROJECT) await grants.addForProject(wanted);
  }
}

function toQuestion(kind: "skill" | "command", { name }: ToolLister, wanted: readonly Grant[]): UserQuestion {
  const listed = wanted.map(describeGrant).join("; ");
  return {
    header: kind === "skill" ? "Skill" : "Command",
    question: `The ${kind} ${name} asks to run without a question: ${listed}`,
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
function toGrants({ allowedTools }: ToolLister, directory: string): Grant[] {
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
