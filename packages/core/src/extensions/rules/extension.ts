import type { AgentEvent } from "../../agent/types.ts";
import type { HarnessExtension, SessionAddition, SessionScope } from "../../harness/types.ts";
import { TurnEvents } from "../evidence/turn-events.ts";
import type { PlacedRule, PlaceRules } from "./find-rules.ts";
import { hasProjectFile, mayHaveRules, NestedFiles, type RuleExtensionPlace } from "./may-have-rules.ts";
import type { SessionRules } from "./session-rules.ts";

/** The rules of instruction files and of the configuration, in every session. */
export async function openRules(place: RuleExtensionPlace): Promise<HarnessExtension> {
  const { cwd, environment, loaded } = place;
  let found: Promise<PlaceRules> | undefined;
  const find = () => {
    found ??= import("./find-rules.ts").then(async ({ PlaceRules }) =>
      PlaceRules.open(
        { cwd, root: loaded.projectRoot, environment, settings: loaded.config.rules },
        await place.trust(),
      ),
    );
    return found;
  };
  // Those of a project may wait for trust, which the user learns at the beginning.
  if (hasProjectFile(cwd, loaded.projectRoot)) await find();
  const isWanted = mayHaveRules(place);
  return { name: "rules", openSession: (scope) => new RulesOfSession(scope, find, isWanted), close() {} };
}

/** Keeps the events that matter; what evaluates calls is loaded with the first one. */
class RulesOfSession implements SessionAddition {
  private readonly events = new TurnEvents();
  private opened: Promise<SessionRules> | undefined;
  private readonly nested: NestedFiles;

  constructor(
    private readonly scope: SessionScope,
    private readonly find: () => Promise<PlaceRules>,
    /** False until a call comes near an instruction file, if the place itself has none. */
    private isWanted: boolean,
  ) {
    this.nested = new NestedFiles(scope.cwd);
  }

  onEvent(event: AgentEvent): void {
    this.events.add(event);
  }

  beforeCall: SessionAddition["beforeCall"] = async (call) => {
    if (!isChecked(call.toolName)) return undefined;
    this.isWanted ||= this.nested.isNear(call.input);
    if (!this.isWanted) return undefined;
    const rules = await this.open();
    const violation = await rules.check(call);
    if (!violation) return undefined;
    const { rule, why } = violation;
    this.note(rule);
    const { quoteRule } = await import("./session-rules.ts");
    const what = why === "" ? "" : ` Here: ${why}.`;
    return {
      refusal: `Refused by a rule: ${quoteRule(rule)}${what} Keep to the rule; do not work around it.`,
    };
  };

  reviewAnswer: NonNullable<SessionAddition["reviewAnswer"]> = async () => {
    // The checks of a sub-agent are those of the turn that started it.
    if (!this.isWanted || this.scope.agent || (!this.events.hasCalls && this.opened === undefined))
      return undefined;
    const rules = await this.open();
    const { demand, violations } = await rules.reviewEnd();
    for (const rule of violations) this.note(rule);
    return demand;
  };

  private note({ text, source, line, name }: PlacedRule): void {
    this.scope.session()?.noteRuleViolation(this.scope.redactor.redact({ rule: text, source, line, name }));
  }

  private async open(): Promise<SessionRules> {
    this.opened ??= import("./session-rules.ts").then(
      async ({ SessionRules }) => new SessionRules(this.scope, await this.find()),
    );
    const rules = await this.opened;
    for (const event of this.events.take()) await rules.noteEvent(event);
    return rules;
  }
}

const CHECKED_TOOLS: ReadonlySet<string> = new Set([
  ...["bash", "edit", "write", "apply_patch", "read", "grep", "lsp", "mcp_call"],
]);

/** Also the tools of servers, whose arguments may name files and commands. */
function isChecked(toolName: string): boolean {
  return CHECKED_TOOLS.has(toolName) || toolName.startsWith("mcp__");
}
