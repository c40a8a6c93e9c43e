import { measureSystemPrompt, type PromptShares } from "@diligent/core/interactive";
import { type ContextUsage, findKnownModel, type SessionEntry } from "@diligent/core/run";
import { chooseApprovalMode, RULE_SYNTAX, readApprovalMode } from "../../approval/permissions.ts";
import { APPROVAL_MODES } from "../../arguments/command.ts";
import { formatTokens } from "../../print/summary.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import { VERSION } from "../../version.ts";
import { type DescribedKeys, describeKeys, keyTexts, nameForPeople } from "../keys/keymap.ts";
import { formatCost } from "../live-region.ts";
import { showPath } from "../text.ts";
import { type CommandContext, formatNumber, formatRows, note, type SlashCommand } from "./types.ts";

/** `/config`: the settings of this session, which were read when it was opened. */
export const CONFIG: SlashCommand = {
  name: "config",
  description: "Show settings and their sources",
  isAlwaysPossible: true,
  async run(_, { print, session }) {
    const { loaded, sandbox } = await session();
    const { formatConfig } = await import("../../commands/config.ts");
    print(`${formatConfig(loaded)}\n${sandbox.text}\nRun /reload to apply changes.`);
  },
};

const BAR_COLUMNS = 20;
const BAR_FROM_COLUMNS = 60;

/** `/context`: estimates the share of the context window per category; on a wide screen with bars. */
export const CONTEXT: SlashCommand = {
  name: "context",
  description: "Context usage",
  isAlwaysPossible: true,
  async run(_, { columns, isPlain, session, print }) {
    const { session: manager, model, promptParts } = await session();
    const usage = await manager.describeContext();
    const lines = describe(
      usage,
      measureSystemPrompt(promptParts()),
      !isPlain && columns() >= BAR_FROM_COLUMNS,
    );
    print([`Context of ${model.id}`, "", ...lines].join("\n"));
  },
};

/** The rows of a table, and notes about its numbers. */
function describe(usage: ContextUsage, prompt: PromptShares, hasBars: boolean): string[] {
  const { contextWindow, modelContextWindow, tokens, isEstimate, compactsAt } = usage;
  const row = (label: string, count: number, mark: string) => {
    const share = contextWindow > 0 ? count / contextWindow : 0;
    const bar = hasBars ? [toBar(share)] : [];
    return [label, mark + formatNumber(count), `${Math.round(share * 100)}%`, ...bar];
  };
  const causes = listCauses(usage, prompt).map(([label, count]) => row(label, count, "≈ "));
  const total = isEstimate ? "≈ " : "";
  const free = Math.max(0, contextWindow - tokens);
  return [
    formatRows([...causes, row("free", free, total), row("used", tokens, total)], { right: [1, 2] }),
    "",
    `  Context window: ${formatNumber(contextWindow)} tokens.${describeLimit(compactsAt)}`,
    ...(contextWindow < modelContextWindow ? [describeUnused(modelContextWindow)] : []),
    isEstimate
      ? "  ≈ marks estimates by length."
      : "  The total is the provider's count; ≈ marks estimates by length.",
  ];
}

function listCauses({ causes }: ContextUsage, prompt: PromptShares): [string, number][] {
  const characters = prompt.base + prompt.instructions + prompt.knowledge;
  const ofPrompt = (share: number) =>
    characters === 0 ? 0 : Math.round((causes.systemPrompt * share) / characters);
  const instructions = ofPrompt(prompt.instructions);
  const knowledge = ofPrompt(prompt.knowledge);
  return [
    ["system prompt", causes.systemPrompt - instructions - knowledge],
    ["instructions", instructions],
    ["knowledge", knowledge],
    ["tools", causes.tools],
    ["summary", causes.summary],
    ["user", causes.user],
    ["assistant", causes.assistant],
    ["tool results", causes.toolResults],
  ];
}

function describeUnused(modelContextWindow: number): string {
  return (
    `  The model's window has ${formatNumber(modelContextWindow)}; compaction.maxContextTokens limits what is used, ` +
    "since long requests cost more and models attend worse to them. Raise it to use more."
  );
}

function describeLimit(compactsAt: number | undefined): string {
  return compactsAt === undefined
    ? " Automatic summaries are off."
    : ` The older part is summarized at ${formatNumber(compactsAt)}.`;
}

function toBar(share: number): string {
  return "■".repeat(Math.max(0, Math.min(BAR_COLUMNS, Math.round(share * BAR_COLUMNS))));
}

/** `/cost`: what the session and its sub-agents cost, by model and cause, and where the cache broke. */
export const COST: SlashCommand = {
  name: "cost",
  aliases: ["usage"],
  description: "Tokens and dollars of this session, and why",
  isAlwaysPossible: true,
  async run(_, context) {
    const { session, model, sessionsDirectory } = await context.session();
    const { header, entries } = session.branches;
    const own = { header, entries };
    const isAnswered = ({ type }: SessionEntry) => type === "message" || type === "request";
    if (!entries.some(isAnswered)) return note(context, "No requests in this session yet.");
    const { readChildren, reportCost } = await import("@diligent/core/cost");
    const { formatCostReport } = await import("../../cost/format-cost.ts");
    const findPrice = (id: string) => (id === model.id ? model : findKnownModel(id));
    const report = reportCost([own, ...readChildren(sessionsDirectory, own)], findPrice);
    const layout = { columns: context.columns(), hasBars: !context.isPlain };
    context.print(["Cost of this session", "", ...formatCostReport(report, layout)].join("\n"));
  },
};

/**
 * `/help`: the available commands, and other line prefixes; without a screen, only the commands that need
 * none.
 */
export const HELP: SlashCommand = {
  name: "help",
  aliases: ["?"],
  description: "Commands and shortcuts",
  isAlwaysPossible: true,
  run(_, { columns, commands, isPlain, keymap, print }) {
    const possible = commands.filter(({ needsScreen }) => !(isPlain && needsScreen));
    const own = possible.filter(({ source }) => source === undefined).map(toHelpRow);
    const added = possible.filter(({ source }) => source !== undefined);
    const head = [
      "Commands and shortcuts",
      "",
      formatRows(own, { columns: columns() }),
      ...formatAdded(added, columns()),
      "",
    ];
    if (isPlain) return print([...head, ...BY_LINES].join("\n"));
    const stop = keyTexts(keymap, [["app.interrupt", "stops the model · "]]);
    print([...head, ...ALSO, `  ${stop}/keys shows all keys`].join("\n"));
  },
};

function toHelpRow({
  name,
  aliases: [alias] = [],
  argumentHint = "",
  description,
  source,
}: SlashCommand): string[] {
  const names = alias === undefined ? `/${name}` : `/${name}, /${alias}`;
  return [
    `${names} ${argumentHint}`.trimEnd(),
    source === undefined ? description : `${description} (${source})`,
  ];
}

const MAX_ADDED = 40;

/** The commands of extensions; a project may have thousands. */
function formatAdded(commands: readonly SlashCommand[], columns: number): string[] {
  if (commands.length === 0) return [];
  const rows = commands.slice(0, MAX_ADDED).map(toHelpRow);
  const rest = commands.length - rows.length;
  const more = rest > 0 ? [`  … and ${rest} more; type / and a part of the name to find them`] : [];
  return ["", "Your own and this project's", "", formatRows(rows, { columns }), ...more];
}

const ALSO = [
  "  @path attaches a file · !command runs it and shows the model the output",
  "  !!command hides the output from the model · !tty command uses the terminal",
  "  // sends a prompt that starts with a slash.",
];

const BY_LINES = [
  "  Lists are numbered; type the command with a number to choose an item.",
  "  !command runs it and shows the model the output, !!command does not.",
  "  // sends a prompt that starts with a slash. Ctrl+C stops the model; twice at the prompt quits.",
];

/**
 * `/keys`: the current key bindings, in groups; with `names`, all actions by the ids that `keybindings.json`
 * uses.
 */
export const KEYS: SlashCommand = {
  name: "keys",
  aliases: ["hotkeys", "keybindings"],
  description: "Show all keys; /keys names shows the names to rebind",
  argumentHint: "[names]",
  isAlwaysPossible: true,
  run(argument, { columns, editorKeys, isPlain, keymap, print }) {
    if (isPlain) return print(KEYS_BY_LINES);
    const described = describeKeys(keymap, editorKeys);
    const format = (rows: readonly string[][]) => formatRows(rows, { columns: columns() });
    if (argument === "names") return print([format(described.map(toNamedRow)), "", HINT].join("\n"));
    const groups = GROUPS.map(({ title, prefix }) => {
      const own = described.filter(({ action, keys }) => action.startsWith(prefix) && keys.length > 0);
      return `${title}\n${format(own.map(({ keys, label }) => [showKeys(keys), label]))}`;
    });
    print(groups.join("\n\n"));
  },
  complete: (prefix) => ["names"].filter((name) => name.startsWith(prefix)),
};

interface Group {
  title: string;
  prefix: string;
}

const GROUPS: readonly Group[] = [
  { title: "Everywhere", prefix: "app." },
  { title: "Writing a prompt", prefix: "tui." },
  { title: "Answering a question", prefix: "approval." },
  { title: "In a list", prefix: "list." },
];

const KEYS_BY_LINES =
  "Enter sends a line. Ctrl+C stops the model; twice at the prompt quits, as Ctrl+D does.";

const HINT = "  keybindings.json in your configuration directory rebinds them by these names.";

function toNamedRow({ action, keys }: DescribedKeys): string[] {
  return [action, keys.length === 0 ? "(none)" : showKeys(keys)];
}

function showKeys(keys: readonly string[]): string {
  return keys.map(nameForPeople).join(", ");
}

const EDIT_KNOWLEDGE = /^edit\s+(\S+)\s+(.+)$/s;

/**
 * `/knowledge`: opens the list of this project's knowledge, or says that the list is empty; `/knowledge review` opens what
 * waits for a decision; `/knowledge edit ID TEXT` replaces an entry.
 * @throws Error for any other argument.
 */
export const KNOWLEDGE: SlashCommand = {
  name: "knowledge",
  aliases: ["memory"],
  description: "Read, correct or forget what was learned here",
  argumentHint: "[review]",
  isAlwaysPossible: true,
  opensList: true,
  async run(argument, context) {
    const [, id, text] = EDIT_KNOWLEDGE.exec(argument) ?? [];
    if (id !== undefined && text !== undefined) return editEntry(id, text, context);
    if (argument === "review") {
      const { knowledgeReviewPicker } = await import("../pickers/knowledge-review.ts");
      const inbox = await knowledgeReviewPicker(context);
      if (inbox) context.open(inbox);
      else note(context, "Nothing waits for a decision.");
      return;
    }
    if (argument !== "") throw new Error("Type /knowledge, /knowledge review or /knowledge edit ID TEXT.");
    const { knowledgePicker } = await import("../pickers/knowledge.ts");
    const picker = await knowledgePicker(context);
    if (picker) context.open(picker);
    else note(context, "No knowledge about this project yet.");
  },
};

async function editEntry(id: string, text: string, context: CommandContext): Promise<void> {
  const { openKnowledgeStore, toLocation } = await import("../../commands/knowledge.ts");
  const { cwd } = await context.session();
  const knowledge = await openKnowledgeStore(cwd, context);
  const edited = await knowledge.library.editKnowledge(id, text, await toLocation(knowledge));
  if (!edited) throw new Error(`There is no knowledge with the id ${toSingleLine(id, 40)}.`);
  note(context, `Saved as ${edited.id}. The prompt of this session changes at /reload.`);
}

/**
 * `/permissions`: opens the list, switches to a mode, adds a rule, or imports those of other agents.
 * @throws Error for any other argument.
 */
export const PERMISSIONS: SlashCommand = {
  name: "permissions",
  aliases: ["approvals"],
  description: "Show, change or import permissions",
  argumentHint: "[mode|rule]",
  isAlwaysPossible: true,
  opensList: true,
  complete: (prefix) => [...APPROVAL_MODES, "import"].filter((word) => word.startsWith(prefix)),
  async run(argument, context) {
    const mode = readApprovalMode(argument);
    if (mode !== undefined) return chooseApprovalMode(mode, context);
    if (/^import(?:\s|$)/.test(argument.trim())) {
      const { importPermissions } = await import("../pickers/import-permissions.ts");
      return importPermissions(argument.trim().slice("import".length).trim(), context);
    }
    if (/^[a-z-]+$/.test(argument.trim())) {
      const modes = APPROVAL_MODES.join(", ");
      throw new Error(`Unknown mode ${argument.trim()}; modes are ${modes}. A rule is ${RULE_SYNTAX}.`);
    }
    if (context.isPlain) {
      const { runPermissionsLine } = await import("../../approval/permissions.ts");
      return context.print((await runPermissionsLine(argument, await context.session())).join("\n"));
    }
    const { addWrittenRule, showPermissions } = await import("../pickers/permissions.ts");
    await (argument === "" ? showPermissions(context) : addWrittenRule(argument, context));
  },
};

const MAX_TEXT_COLUMNS = 400;

/** `/status`: details that do not fit into the status line: files, window, sandbox, trust. */
export const STATUS: SlashCommand = {
  name: "status",
  description: "Show the session, its model and directory",
  isAlwaysPossible: true,
  async run(_, { columns, session, view, print }) {
    const { status } = view();
    const { session: manager, cwd, loaded, sandbox } = await session();
    const { name } = manager.branches;
    const { sessionPath } = manager;
    const rows = [
      ["session", manager.sessionId],
      ...(name === undefined ? [] : [["name", name]]),
      ["file", sessionPath === undefined ? "not saved yet" : showPath(sessionPath, cwd)],
      ["model", status.model],
      ["thinking", status.effort ?? "model default"],
      ["context", `${formatTokens(status.contextTokens)} of ${formatTokens(status.contextWindow)} tokens`],
      ["tokens", formatTokens(status.sessionTokens)],
      ["cost", status.cost === null ? "unknown" : formatCost(status.cost)],
      ["approval", status.approvalMode],
      ["sandbox", toSingleLine(sandbox.text, MAX_TEXT_COLUMNS)],
      ["trust", TRUST_TEXTS[loaded.trust]],
      ["directory", status.cwd],
      ...(status.gitBranch === undefined ? [] : [["branch", status.gitBranch]]),
      ["version", VERSION],
    ];
    print(`This session\n\n${formatRows(rows, { columns: columns() })}`);
  },
};

const TRUST_TEXTS = {
  none: "this project has no configuration",
  untrusted: "this project's configuration is not trusted; see /trust",
  changed: "this project's configuration has changed since it was trusted; see /trust",
  trusted: "this project's configuration is trusted",
};

/** `/trust`: shows what trust would make active, and asks; the answer applies at once. */
export const TRUST: SlashCommand = {
  name: "trust",
  description: "Trust this project's configuration, or revoke trust",
  opensList: true,
  async run(_, context) {
    const { askForTrust } = await import("../pickers/trust.ts");
    await askForTrust(context);
  },
};

/** `/network`: the connections of this session, allowed or refused. */
export const NETWORK: SlashCommand = {
  name: "network",
  description: "What was connected to, and what was refused",
  isAlwaysPossible: true,
  async run(_, { print, session, columns }) {
    const { networkRecords } = await session();
    const { formatNetworkRecords } = await import("../../commands/network.ts");
    print(["Network of this session", "", ...formatNetworkRecords(networkRecords(), columns())].join("\n"));
  },
};

/** `/evidence`: what was checked in each turn of this conversation, the last one at the end. */
export const EVIDENCE: SlashCommand = {
  name: "evidence",
  description: "Which checks ran, what they said, and whether they still hold",
  isAlwaysPossible: true,
  async run(_, { print, session }) {
    const opened = await session();
    const { describeEvidenceOf } = await import("../../evidence/session-evidence.ts");
    print(describeEvidenceOf(opened.session.customEntries("evidence")).join("\n"));
  },
};

/** `/rules`: the rules of this session with their lines and guards, and what is not enforced. */
export const RULES: SlashCommand = {
  name: "rules",
  description: "Rules of instruction files that calls are held to",
  isAlwaysPossible: true,
  async run(_, { print, session, environment }) {
    const { cwd, loaded, projectTrust } = await session();
    const { findRules } = await import("@diligent/core/definitions");
    const { formatRules } = await import("../../rules/format-rules.ts");
    const place = { cwd, root: loaded.projectRoot, environment, settings: loaded.config.rules };
    print(formatRules(await findRules(place, await projectTrust(), { nested: true })).join("\n"));
  },
};
