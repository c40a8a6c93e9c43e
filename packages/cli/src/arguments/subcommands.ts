import { FOREIGN_AGENTS } from "@diligent/core/light";
import { EXPORT_FORMATS } from "../export/export-format.ts";

/** An option of a subcommand. */
export interface SubcommandOption {
  name: string;
  alias?: string;
  /** The value's placeholder in help; absent for an option without a value. */
  value?: string;
  /** The allowed values; absent if any value is allowed. */
  choices?: readonly string[];
  /** What a shell can complete the value with. */
  completes?: "file" | "model" | "session";
  help: string;
}

/** A subcommand as used by help, shell completions and its argument parser. */
interface SubcommandPage {
  /** Purpose, short enough for the program's own help page. */
  about: string;
  /** Purpose, in one line. */
  title: string;
  /** Usage without `diligent` and the subcommand's name, and what each form does. */
  usage: readonly (readonly [call: string, explanation: string])[];
  /** The allowed first words. */
  words?: readonly string[];
  /** The words directly followed by a session: the subcommand's own name, or some of `words`. */
  sessionBehind?: readonly string[];
  options: readonly SubcommandOption[];
  /** Paragraphs. */
  notes: readonly string[];
  /** True if it works in a project, which `-C DIR` before its name can select. */
  isOfProject: boolean;
}

const JSON_OPTION = { name: "json", help: "print JSON, for programs" };
const HTML_OPTION = { name: "html", help: "print a page that needs no network" };
const REPORT_FORMAT = {
  name: "format",
  value: "FORMAT",
  choices: ["text", "json", "html"],
  help: "text (default), json or html",
};
const YES_OPTION = { name: "yes", help: "do not ask" };

/** Of the subcommands that run sessions. */
export const ONLY_HOST_OPTION = { name: "only-host", value: "HOST,…", help: "connect to nothing else" };

const REF = "REF is a session: its number in the list, its id or an id prefix, or its name.";

/** Values of `--format` of `diligent review`. */
export const REVIEW_FORMATS = ["text", "json", "sarif"] as const;

/** Values of `--fail-on` of `diligent review`, the least serious first. */
export const REVIEW_SEVERITIES = ["note", "warning", "error"] as const;

const PAGES = {
  demo: {
    about: "watch it fix a bug, no key needed",
    title: "watch it fix a bug, with no key and no network",
    usage: [["", "fix the bug in a sample project, on the screen if there is a terminal"]],
    options: [{ name: "plain-ui", help: "plain lines instead of the screen" }],
    notes: [
      "A script plays the model; everything else is real: the loop, the tools, the session file. It works on a small project in a new temporary directory, which is kept afterwards. Exit code 0 means that the project's tests passed.",
    ],
    isOfProject: false,
  },
  login: {
    about: "store a key for a provider",
    title: "store a key for a provider after one request has shown that it works",
    usage: [
      ["[NAME]", "ask for the key, which is not shown; without NAME, ask for the provider first"],
      ["NAME < FILE", "read the key from stdin"],
    ],
    words: ["anthropic", "openai"],
    options: [
      {
        name: "model",
        alias: "m",
        value: "MODEL",
        completes: "model",
        help: "test the key with this model of the provider",
      },
      { name: "no-check", help: "store it without testing" },
    ],
    notes: [
      "NAME is anthropic, openai, or a server of provider.compatible in your configuration. The key is stored in diligent.jsonc in your configuration directory, mode 0600, and is never read from the command line. In a session, use /login. A key in the environment, such as ANTHROPIC_API_KEY, overrides a stored one.",
      "Exit code 2: no key or a wrong one. Exit code 1: the provider could not be reached; nothing was stored.",
    ],
    isOfProject: false,
  },
  logout: {
    about: "remove a stored key",
    title: "remove the stored key of a provider",
    usage: [["[NAME]", "from diligent.jsonc in your configuration directory"]],
    words: ["anthropic", "openai"],
    options: [],
    notes: [
      "Without NAME, the only stored key is removed, after asking at a terminal. In a session, use /logout.",
    ],
    isOfProject: false,
  },
  sessions: {
    about: "find, name and delete sessions",
    title: "find, show, name, archive and delete this project's sessions",
    usage: [
      ["[list]", "the same as diligent --list"],
      ["find TEXT", "search messages, names and labels"],
      ["show REF", "the conversation as the model will see it"],
      ["show REF --full", "every entry, including what was summarized or shortened"],
      ["show REF --entries", "one line per entry of every branch, with its id and label"],
      ["compact REF [FOCUS]", "summarize the older part now; FOCUS says what to keep"],
      ["name REF NEW NAME", "name a session"],
      ["label REF@ENTRY [NAME]", "label an entry; without NAME, remove the label"],
      ["archive REF", "hide it from lists; its file is kept"],
      ["unarchive REF", "show it in lists again"],
      ["rm REF", "delete its file, after asking"],
    ],
    words: ["list", "find", "show", "compact", "name", "label", "archive", "unarchive", "rm"],
    sessionBehind: ["show", "compact", "name", "label", "archive", "unarchive", "rm"],
    options: [
      { name: "all", help: "with find: search all your projects" },
      { name: "archived", help: "with find and list: include archived sessions" },
      { name: "full", help: "with show: leave nothing out" },
      { name: "entries", help: "with show: one line per entry" },
      JSON_OPTION,
      {
        name: "model",
        alias: "m",
        value: "MODEL",
        completes: "model",
        help: "with compact: the model that summarizes",
      },
      YES_OPTION,
    ],
    notes: [
      REF,
      "Continuing an archived session unarchives it. Your projects are those in the input history.",
      "diligent --fork REF@ENTRY starts a copy of the branch up to that entry. ENTRY is the id (8 hexadecimal digits) or the label that show REF --entries lists.",
    ],
    isOfProject: true,
  },
  history: {
    about: "search the sessions of all projects",
    title: "search the sessions of all projects, and those of other agents",
    usage: [
      ["search QUERY", 'words that occur together, "phrases", beginnings*'],
      ["show REF", "a session as a document"],
      ["stats", "what the index holds"],
      ["reindex", "build the index again"],
      ["forget REF", "remove a session from the index for good; its file stays"],
    ],
    words: ["search", "show", "stats", "reindex", "forget"],
    options: [
      { name: "project", value: "DIR", completes: "file", help: "with search: in this project" },
      {
        name: "agent",
        value: "NAME",
        choices: ["diligent", ...FOREIGN_AGENTS],
        help: "with search: sessions of this agent",
      },
      { name: "file", value: "PATH", help: "with search: calls that name this file, or a path that ends so" },
      { name: "tool", value: "NAME", help: "with search: calls of this tool and their results" },
      { name: "since", value: "DATE", help: "with search: from this day on, YYYY-MM-DD" },
      { name: "limit", value: "N", help: "with search: at most N results, 20 by default" },
      JSON_OPTION,
    ],
    notes: [
      "REF is an id as search prints it: one of diligent's, or claude-code:ID, codex:ID, pi:ID, opencode:ID, gemini:ID.",
      "Prompts, answers, commands, paths and the first 2 KB of each result are searched, the newest first. Each call first adds what has changed since the last one. The index is in your data directory, is private, and nothing of it leaves this machine; history.index and history.sources in your configuration turn it off or limit it.",
    ],
    isOfProject: true,
  },
  import: {
    about: "import sessions of other agents",
    title: "import sessions of Claude Code, Codex, pi, opencode or gemini-cli",
    usage: [
      ["AGENT", "the sessions of this project, from where the agent keeps them"],
      ["AGENT PATH", "the sessions in a file or a directory"],
    ],
    words: FOREIGN_AGENTS,
    options: [JSON_OPTION],
    notes: [
      `AGENT is ${FOREIGN_AGENTS.join(", ")}. Prints the id of each session; diligent -c ID continues it, with any model. Importing again adds what is new, as a branch where the conversation differs.`,
      "Imported are messages, thinking, calls with their results, images, summaries, models, token counts, the directory and the git branch. Other records are counted by kind. The agent's files are only read. Exit code 1: some sessions could not be read.",
    ],
    isOfProject: true,
  },
  network: {
    about: "list what a session connected to",
    title: "list the hosts that a session connected to, or that were refused",
    usage: [["[REF]", "of the most recent session, or of REF"]],
    sessionBehind: ["network"],
    options: [JSON_OPTION],
    notes: [
      REF,
      "Connections of diligent itself and of everything in a sandbox are recorded; what ran outside a sandbox is named. --network and the setting sandboxNetwork say what commands reach: off, on, or a list of hosts; --only-host limits everything. docs/network.md has the details.",
    ],
    isOfProject: true,
  },
  replay: {
    about: "run a recorded session again",
    title: "run a recorded session again, offline, and compare every event",
    usage: [["[REF]", "the most recent session, or REF, with its sub-agents"]],
    sessionBehind: ["replay"],
    options: [JSON_OPTION],
    notes: [
      REF,
      'A session is recorded if "record" is true in the configuration when it is opened. Its record contains what the model, the tools and you have said; the replay runs the agent and the session again on that, and runs no tool.',
      "Exit code 1: an event differs; the first one is shown. Exit code 2: there is no record, or it is damaged.",
    ],
    isOfProject: true,
  },
  "what-if": {
    about: "continue a session in other ways",
    title: "continue a session from an entry with other models, prompts or efforts, and compare the outcomes",
    usage: [
      ["REF@ENTRY --model M...", "ask again with each model"],
      ["REF@ENTRY --prompt-file FILE...", "ask what each file says instead"],
      ["REF@ENTRY --effort E...", "ask again with each thinking level"],
    ],
    sessionBehind: ["what-if"],
    options: [
      { name: "model", alias: "m", value: "MODEL", completes: "model", help: "a variant with this model" },
      { name: "prompt-file", value: "FILE", completes: "file", help: "a variant with this prompt" },
      { name: "effort", value: "LEVEL", help: "a variant with this thinking level" },
      { name: "runs", value: "N", help: "runs of each variant (1)" },
      { name: "max-cost", value: "USD", help: "of all runs together" },
      { name: "keep", help: "keep the worktrees" },
      JSON_OPTION,
      HTML_OPTION,
    ],
    notes: [
      REF,
      "ENTRY is the id or the label of an entry (diligent sessions show REF --entries). From a prompt on, that prompt is asked again; from any other entry on, the prompt after it.",
      "Each run works in a git worktree of its own, which has the files as they were at ENTRY, in the mode auto and the sandbox. The sessions stay, the worktrees are removed unless --keep is given. The table shows how each run ended, its checks, turns, tokens, cost, time and the size of its changes.",
      "Exit code 1: a run has failed. 2: nothing was sent. 3: --max-cost was reached before all runs. 130: Ctrl+C; what has ended is shown.",
    ],
    isOfProject: true,
  },
  review: {
    about: "review changes, for people or for CI",
    title: "review changes with a model that can only read, and report what is wrong",
    usage: [
      ["", "what is not committed, with new files"],
      ["--staged", "what is staged"],
      ["RANGE", "as git diff takes it: main...HEAD, v1..v2, HEAD~3"],
      ["--diff FILE", "a diff from elsewhere; - reads it from stdin"],
      ["[RANGE] -- PATH...", "only these files and directories"],
    ],
    options: [
      { name: "staged", help: "review what is staged" },
      { name: "diff", value: "FILE", completes: "file", help: "review the diff in this file" },
      {
        name: "format",
        alias: "f",
        value: "FORMAT",
        choices: REVIEW_FORMATS,
        help: "text (default), json, or sarif (SARIF 2.1.0)",
      },
      {
        name: "fail-on",
        value: "LEVEL",
        choices: REVIEW_SEVERITIES,
        help: "exit code 1 with findings of this level or above: note, warning, error",
      },
      { name: "model", alias: "m", value: "MODEL", completes: "model", help: "an id or an alias" },
      { name: "max-cost", value: "USD", help: "stop at this cost" },
      ONLY_HOST_OPTION,
    ],
    notes: [
      "The reviewer reads and searches the project; it changes nothing and runs nothing, and git is run without any program that the repository names. Files that may hold secrets are left out. A large diff is reviewed in parts. In a session, use /review [RANGE|--staged].",
      "json is a list of {file, line, severity, message}. A finding about a line that the diff does not show is marked (inDiff: false); one that names a file or line that does not exist is dropped. Exit code 0: reviewed; 1: as --fail-on says, or the review failed; 2: nothing was sent; 3: a limit was reached. docs/review.md shows CI.",
    ],
    isOfProject: true,
  },
  runs: {
    about: "list sessions that are running",
    title: "list the sessions that are open now, in all your projects, and stop them",
    usage: [
      ["[list]", "their ids, states, processes, ages, costs, models and projects"],
      ["stop ID", "end the process of a session; ID is its id or a prefix"],
    ],
    words: ["list", "stop"],
    options: [JSON_OPTION],
    notes: [
      "working: the model or its tools are at work; waiting: for your answer; idle: for a prompt. Sub-agents belong to their session; sessions with --no-session are not listed. What is stopped saves its session first: diligent --continue continues it.",
      "Exit code 1: it has not ended within five seconds.",
    ],
    isOfProject: false,
  },
  undo: {
    about: "undo the file changes of a prompt",
    title: "undo what the last prompt of a session changed in the project",
    usage: [
      ["", "in the session that made the last change; run again for the prompt before"],
      ["--redo", "redo what was undone last"],
    ],
    options: [
      { name: "session", alias: "s", value: "REF", completes: "session", help: "in this session" },
      { name: "redo", help: "redo what was undone last" },
      { name: "cut-off", help: "undo the last interrupted turn, as far as its changes are known" },
      { name: "dry-run", help: "only show what would be done" },
      { name: "yes", help: "with --cut-off: do not ask" },
      JSON_OPTION,
    ],
    notes: [
      `${REF} In a session, use /undo (/undo cut-off) and /redo.`,
      "Everything in the project is restored, whichever tool changed it: content, permissions, links, empty directories, untracked files. Files that have changed since are left unchanged and listed; the exit code is then 1. Anything that changes while a command runs counts as its work. A turn that was killed is undone only with --cut-off, which asks first, and only up to its last recorded activity. Ctrl+C reverts an undo that is running. A commit is undone with its files; its objects stay in the repository. .diligent is never restored; changes there are listed. Not recorded, but listed if they changed: files above 50 MB and directories such as node_modules, which are scanned one level deep.",
      "At most 2 GB is kept, in ~/.local/state/diligent/checkpoints; the oldest sessions are removed first. Nothing is recorded in your home directory. In projects with more than 200,000 files or 1 GB only commits and refs are recorded; with --no-session, too, and only until the run ends unless some are missing then.",
    ],
    isOfProject: true,
  },
  config: {
    about: "show settings and their sources",
    title: "show the settings in effect here and their sources",
    usage: [
      ["", "every setting with its source; keys are masked"],
      ["--schema", "the JSON Schema of diligent.jsonc, for editors"],
      ["--schema events", "of each line of --output-format stream-json"],
      ["--schema input", "of each line of --input-format stream-json"],
    ],
    options: [JSON_OPTION, { name: "schema", help: "print a JSON Schema" }],
    notes: ["Later wins: your own file, the project's, environment and command line."],
    isOfProject: true,
  },
  trust: {
    about: "trust this project's configuration",
    title: "trust this project's configuration, its definitions, and knowledge written elsewhere",
    usage: [["", "show what would become active, then ask"]],
    options: [YES_OPTION],
    notes: [
      "Trust covers this exact directory and content: you are asked again about what changes; the rest stays trusted.",
      "Without a terminal there is no one to ask: use --yes, else the exit code is 2.",
    ],
    isOfProject: true,
  },
  untrust: {
    about: "revoke that trust",
    title: "revoke trust in this project's configuration",
    usage: [["", "its restricted settings are ignored from the next start on"]],
    options: [],
    notes: [],
    isOfProject: true,
  },
  mcp: {
    about: "MCP servers and their tools",
    title: "servers of the Model Context Protocol, whose tools the model can use",
    usage: [
      ["[list]", "all servers, and whether they answer"],
      ["add NAME -- COMMAND...", "a server that is a program"],
      ["add NAME --url URL", "a server that is reached over HTTP"],
      ["remove NAME", "remove it from its file"],
      ["enable NAME", "use it again"],
      ["disable NAME", "keep it, but do not use it"],
      ["test NAME", "connect to it, and list what it offers"],
      ["login NAME", "sign in to it, in a browser"],
      ["logout NAME", "forget that sign-in"],
      ["import", "show the servers of other agents; --yes takes them over"],
      ["serve", "be a server on stdio: tools run and sessions_search"],
    ],
    words: ["list", "add", "remove", "enable", "disable", "test", "login", "logout", "import", "serve"],
    options: [
      { name: "url", value: "URL", help: "with add: its address" },
      { name: "env", value: "NAME=VALUE", help: "with add: an environment variable; repeatable" },
      { name: "header", value: "NAME=VALUE", help: "with add: a header of each request; repeatable" },
      { name: "project", help: "with add: into the project's diligent.jsonc" },
      { ...YES_OPTION, help: "with import: take them over" },
      { ...ONLY_HOST_OPTION, help: "with serve and test: connect to nothing else" },
      JSON_OPTION,
    ],
    notes: [
      "Servers are in mcpServers of your own diligent.jsonc, of the project's, and in its .mcp.json. Those of a project start once you trust it (diligent trust), in a sandbox. Options come before --. {env:NAME} in a setting stands for an environment variable.",
      "list: exit code 1 if an enabled server does not answer.",
    ],
    isOfProject: true,
  },
  knowledge: {
    about: "what was learned about this project",
    title: "what was learned about this project and is shared with the model",
    usage: [
      ["[list]", "list entries, the highest score first"],
      ["show ID", "the whole entry and what it replaced"],
      ["rm ID...", "remove entries with what they replaced"],
      ["prune", "remove replaced and faded entries"],
      ["review", "decide about new, possibly stale and contradicting entries"],
      ["keep ID...", "confirm entries; those named together do not contradict each other"],
      ["edit ID TEXT", "replace the text of an entry"],
    ],
    words: ["list", "show", "rm", "prune", "review", "keep", "edit"],
    options: [JSON_OPTION, { name: "dry-run", help: "with prune: only show what would be removed" }],
    notes: [
      "ID is an id of the list or an id prefix. The score is the confidence, halved every 30 days, times 1.5 for corrections, 1.3 for preferences and 0.8 for discoveries. Below 0.05 an entry has faded: a pattern with the usual confidence of 0.8 does so after four months. The file .diligent/knowledge/knowledge.jsonl is only appended to: removed entries stay in it, but are no longer shared with the model.",
    ],
    isOfProject: true,
  },
  skills: {
    about: "list, check and create skills",
    title: "the skills of this project and your own",
    usage: [
      ["[list]", "list them with their sources, and what is wrong with them"],
      ["show NAME", "print the text of a skill"],
      ["check DIR", "check the skill in DIR against the specification"],
      ["new NAME", "create .diligent/skills/NAME/SKILL.md"],
    ],
    words: ["list", "show", "check", "new"],
    options: [JSON_OPTION],
    notes: [
      "Skills are read from .diligent/skills, .agents/skills, .claude/skills and those of other agents, from the working directory up to the project root, and from ~/.config/diligent/skills, ~/.agents/skills, ~/.claude/skills and ~/.codex/skills. Those of the project are used once you trust it. In a prompt, /skill:NAME and $NAME use one. Exit code 1: the checked skill cannot be loaded.",
    ],
    isOfProject: true,
  },
  plugins: {
    about: "add and update plugins",
    title: "packages of skills, commands, sub-agents, hooks and servers in Claude Code's layout",
    usage: [
      ["[list]", "list them with their sources and commits"],
      ["add URL[@REF]", "fetch one with git, show what would become active, then ask"],
      ["add PATH[@REF]", "the same from a repository or a directory on this machine"],
      ["update [NAME]", "fetch it, or all, again, show the differences, then ask"],
      ["remove NAME", "remove it with its files"],
    ],
    words: ["list", "add", "update", "remove"],
    options: [
      { name: "plugin", value: "NAME", help: "with add: the one to add, where a repository lists several" },
      YES_OPTION,
      JSON_OPTION,
    ],
    notes: [
      "Nothing of a plugin runs when it is added: git fetches one commit without hooks, filters and submodules. What is added is kept in your data directory, and is active in all projects as long as its files stay as they were shown. Its hooks and servers run in the sandbox. REF is a branch, a tag or a commit.",
      "Without a terminal there is no one to ask: use --yes, else the exit code is 2. Exit code 1: it could not be fetched, or cannot be used.",
    ],
    isOfProject: false,
  },
  agents: {
    about: "list the sub-agents",
    title: "the sub-agents that a session here can use",
    usage: [["[list]", "list them with their sources, and what is wrong with their files"]],
    words: ["list"],
    options: [JSON_OPTION],
    notes: [
      "explore, general and reviewer are built in. Others are read from .diligent/agents, .claude/agents and .opencode/agents, from the working directory up to the project root, and from ~/.config/diligent/agents, ~/.claude/agents and ~/.config/opencode/agents. Those of the project are used once you trust it. The keys agents and agentLimits of the configuration change, add, remove and limit them.",
    ],
    isOfProject: true,
  },
  rules: {
    about: "list the rules that bind the model",
    title: "the rules of instruction files that calls of the model are held to",
    usage: [
      ["[list]", "list them with their lines and guards, and what is not enforced"],
      ["check FILE", "what would be enforced of a file"],
    ],
    words: ["list", "check"],
    options: [JSON_OPTION],
    notes: [
      "Read are CLAUDE.md and AGENTS.md of the project, of its subdirectories and in your configuration directory. Sentences such as “never push” or “run the linter before you finish” are recognized by patterns; nothing is asked of a model. Those of the project bind once you trust it. The key rules of your configuration adds rules, and switches off those that it names.",
    ],
    isOfProject: true,
  },
  cost: {
    about: "what a session cost, and why",
    title: "what the requests of a session cost, by model and cause",
    usage: [["[REF]", "session REF, or the last one, with its sub-agents"]],
    sessionBehind: ["cost"],
    options: [JSON_OPTION, HTML_OPTION, REPORT_FORMAT],
    notes: [
      REF,
      "Each request is kept in the session's file with the tokens of its input by cause: parts of the system prompt, each tool, each MCP server, and the conversation by kind. Causes are estimates that add up to the provider's count. A break is a request whose cached beginning could not be used, with the reason and the extra cost.",
      "Costs use the prices of the day of the request. An unknown price stays unknown: models in the configuration adds or corrects it.",
    ],
    isOfProject: true,
  },
  usage: {
    about: "what all sessions cost",
    title: "what the requests of all sessions cost, by day, project, model or tool",
    usage: [["", "a table with bars, of all projects in which diligent was used"]],
    options: [
      {
        name: "by",
        value: "GROUP",
        choices: ["day", "project", "model", "tool"],
        help: "day (default), project, model or tool",
      },
      { name: "since", value: "DATE", help: "only requests from this date on, such as 2026-01-31" },
      JSON_OPTION,
      HTML_OPTION,
      REPORT_FORMAT,
    ],
    notes: [
      "By tool, a row is the part of the input that is its definition and its results, and that part of the cost; requests from before causes were kept are left out. Imported sessions do not count. Costs use the prices of the day of the request; a row with an unknown price has an unknown cost.",
    ],
    isOfProject: true,
  },
  models: {
    about: "list the models",
    title: "the models for --model and for the configuration",
    usage: [["", "a table, grouped by provider"]],
    options: [{ ...JSON_OPTION, help: "print JSON, for programs; null means unknown" }],
    notes: [
      'Any other id that starts with claude-, gpt- or o and a digit works too, and any NAME/MODEL of a server in provider.compatible. Use "models" in the configuration to add or correct models.',
    ],
    isOfProject: true,
  },
  export: {
    about: "write a session as a document",
    title: "write a session as a document",
    usage: [["[REF]", "write session REF, or the last one, to stdout"]],
    sessionBehind: ["export"],
    options: [
      {
        name: "format",
        alias: "f",
        value: "FORMAT",
        choices: EXPORT_FORMATS,
        help: "md for people, html for a page that needs no network, jsonl for a session file, atif for evaluations; default: FILE's extension (.atif.json for atif), else md",
      },
      {
        name: "output",
        alias: "o",
        value: "FILE",
        completes: "file",
        help: "write to a new file, mode 0600",
      },
      { name: "raw", help: "with the secrets that are masked otherwise; asks first, at a terminal" },
    ],
    notes: [`${REF} An existing file is not overwritten.`],
    isOfProject: true,
  },
  acp: {
    about: "serve editors over ACP",
    title: "serve an editor over stdin and stdout",
    usage: [["", "speak the Agent Client Protocol until the editor closes the input"]],
    options: [ONLY_HOST_OPTION],
    notes: [
      "The editor starts this command itself; docs/editors.md shows the settings for Zed, JetBrains, Neovim and Emacs. Its sessions are those of the project: diligent --continue continues them.",
    ],
    isOfProject: false,
  },
  doctor: {
    about: "check this machine for problems",
    title: "check whether diligent works on this machine and in this project",
    usage: [["", "print a line per check, with what to do about problems"]],
    options: [
      {
        name: "model",
        alias: "m",
        value: "MODEL",
        completes: "model",
        help: "check this model's provider",
      },
      { name: "offline", help: "make no connections" },
      JSON_OPTION,
    ],
    notes: [
      "Checks the versions, the configuration, whether the model's provider has a key, its address (one request without content or key; the only other address is that of updates, if set), ripgrep, the sandbox, the terminal and the disk. Temporary files of the sandbox check are deleted. Exit code 1: something that diligent needs does not work.",
    ],
    isOfProject: true,
  },
  completions: {
    about: "print completions for your shell",
    title: "print completions for your shell",
    usage: [["bash|zsh|fish", "print a script for that shell"]],
    words: ["bash", "zsh", "fish"],
    options: [],
    notes: [
      'bash: in ~/.bashrc, eval "$(diligent completions bash)"',
      'zsh: in ~/.zshrc after compinit, eval "$(diligent completions zsh)"',
      "fish: diligent completions fish > ~/.config/fish/completions/diligent.fish",
    ],
    isOfProject: false,
  },
} as const satisfies Readonly<Record<string, SubcommandPage>>;

/** A word that is a subcommand when it comes first. */
export type SubcommandName = keyof typeof PAGES;

type NameWithWords = {
  [Name in SubcommandName]: (typeof PAGES)[Name] extends { words: readonly string[] } ? Name : never;
}[SubcommandName];

/** The allowed first words of a subcommand, for those that have any. */
export type SubcommandWord<Name extends NameWithWords> = (typeof PAGES)[Name]["words"][number];

/** The subcommands, in the order of the help page. */
export const SUBCOMMAND_PAGES: Readonly<Record<SubcommandName, SubcommandPage>> = PAGES;

/** True for the full name only; no abbreviations. */
export function isSubcommandName(word: string): word is SubcommandName {
  return Object.hasOwn(PAGES, word);
}

/** Always false for a subcommand without such words. */
export function isSubcommandWord<Name extends NameWithWords>(
  name: Name,
  word: string,
): word is SubcommandWord<Name> {
  return SUBCOMMAND_PAGES[name].words?.includes(word) ?? false;
}
