import {
  type AskedVerdict,
  type AskPerson,
  type AskUser,
  type CommandEdit,
  type PersonAnswer,
  requestedCommand,
  STOPPED_ANSWER,
  type UserQuestion,
} from "@diligent/core/harness";
import { describeGrant } from "@diligent/core/interactive";
import type { ApprovalRequest } from "@diligent/core/run";
import {
  describeAsking,
  describeHostRequest,
  describeRefusedEdit,
  describeServerToolRequest,
  REASON_HEADING,
  readTriedChanges,
  requestedPaths,
  toEscapedRequest,
  toolChange,
} from "../approval/describe-request.ts";
import { escapeLine, escapeText, formatMark, hasMark } from "../approval/escaped-text.ts";
import type { CliOutput } from "../io/io.ts";
import { toSingleLine } from "../text/terminal-text.ts";
import type { Picker } from "../tui/pickers/picker.ts";
import type { PickerItem } from "../tui/view.ts";

// Limit for a diff in a question; users who want more can reject and look.
const DIFF_HEAD_LINES = 120;
const DIFF_TAIL_LINES = 80;
const DIFF_HEAD_CHARS = 1_500;
const DIFF_TAIL_CHARS = 500;

// One screen of a common terminal: longer text has scrolled away by the time of the answer.
const SCREEN_LINES = 20;
const SCREEN_CHARS = 1_600;

/**
 * The approval question: everything that would be done with invisible characters shown, what requires approval, what
 * each answer means, and the question last. Only very long diffs are cut, with a note.
 */
export function formatQuestion(request: ApprovalRequest, verdict: AskedVerdict): string {
  const tried = readTriedChanges(request);
  if (tried) {
    const text = [...tried.lines, ...tried.diff].map(escapeLine);
    return [describeAsking(request, verdict), "", ...indent(text.join("\n")), "", APPLY_QUESTION].join("\n");
  }
  const { grants = [] } = verdict;
  const wish = toEscapedRequest(request, verdict);
  const refused = describeRefusedEdit(verdict);
  const shown = [
    describeAsking(request, verdict),
    ...(refused === undefined ? [] : [refused]),
    "",
    ...indent(describeSubject(request)),
    "",
    ...(wish === undefined ? [] : [`  ${REASON_HEADING}`, `    ${wish}`, ""]),
    ...describeAlways(verdict),
  ];
  return [
    ...shown,
    ...describeLength(request),
    ...(shown.some(hasMark) ? [`  ${formatMark("…")}  a note by diligent, not part of the text`] : []),
    ...(isEditable(request, verdict) ? ["  e  edit the command"] : []),
    "  n MESSAGE  no, with a message to the model",
    `Allow it? y (once) / ${grants.length > 0 ? "a (always) / p (always, saved) / " : ""}${
      verdict.mayTry ? "t (try first) / " : ""
    }${isEditable(request, verdict) ? "e (edit) / " : ""}n: `,
  ].join("\n");
}

const APPLY_QUESTION = "Apply it? a (apply) / n (drop): ";

/** The allowed answers, for a user whose answer was invalid. */
export function formatHint(request: ApprovalRequest, verdict: AskedVerdict): string {
  if (verdict.gate === "try") return "Please answer a or n.";
  const { grants = [], choices = [] } = verdict;
  const wider = choices.slice(1).map((_, index) => `a${index + 2}, p${index + 2}`);
  const answers = [
    ...(grants.length > 0 ? ["y, a, p", ...wider] : ["y"]),
    ...(verdict.mayTry ? ["t"] : []),
    ...(isEditable(request, verdict) ? ["e"] : []),
  ];
  return `Please answer ${answers.join(", ")} or n.`;
}

/** True for a command the user may edit. */
function isEditable(request: ApprovalRequest, { isFixed }: AskedVerdict): boolean {
  return requestedCommand(request) !== undefined && !isFixed;
}

/** True for the answer that edits the command. */
function wantsEdit(line: string, request: ApprovalRequest, verdict: AskedVerdict): boolean {
  return isEditable(request, verdict) && /^\s*e(?:dit)?\s*$/i.test(line);
}

/** Asks for the new command. */
function formatEditQuestion(command: string): string {
  return ["", ...indent(escapeText(command)), "New command, on one line (empty keeps the old one): "].join(
    "\n",
  );
}

/** Parses an answer; undefined if it is invalid. Only what `verdict` offers can be allowed permanently. */
export function parseAnswer(
  line: string,
  { grants = [], choices = [], gate, mayTry }: AskedVerdict,
): PersonAnswer | undefined {
  if (gate === "try") return parseApplyAnswer(line);
  const [, word = "", message = ""] = /^\s*(\S+)\s*(.*?)\s*$/s.exec(line) ?? [];
  const answer = word.toLowerCase();
  if (answer === "n" || answer === "no") return reject(message);
  if (message !== "") return undefined;
  if (answer === "y" || answer === "yes") return { response: "once" };
  if (mayTry && (answer === "t" || answer === "try")) return { response: "once", tries: true };
  if (grants.length === 0) return undefined;
  const [, letter, number = "1"] = /^(a|p|always|project)([1-9])?$/.exec(answer) ?? [];
  const choice = choices[Number(number) - 1];
  if (letter === undefined || (choice === undefined && number !== "1")) return undefined;
  const scope = letter.startsWith("a") ? "session" : "project";
  const isExact = choice === undefined || choice.reach === "exact";
  return { response: "always", scope, ...(!isExact && { reach: choice.reach }) };
}

/** What was tried is dropped without ending the turn. */
function parseApplyAnswer(line: string): PersonAnswer | undefined {
  const answer = line.trim().toLowerCase();
  if (answer === "a" || answer === "apply") return { response: "once" };
  const isDropped = ["", "n", "no", "d", "drop"].includes(answer);
  return isDropped ? { response: "reject", message: "The user dropped the changes." } : undefined;
}

/** With a message the model continues and reacts to it; without one the turn ends. */
function reject(message: string): PersonAnswer {
  if (message !== "") return { response: "reject", message: `The user denied this: ${message}` };
  return {
    response: "reject",
    message: "The user denied this. Do not work around it.",
    endTurn: true,
  };
}

/** Exactly what was asked, then the wider choices with their numbers, each with examples. */
function describeAlways({ grants = [], choices = [] }: AskedVerdict): string[] {
  if (grants.length === 0) return [];
  const [exact, ...wider] = choices;
  return [
    "  a  always in this session, p  always in this project; allows:",
    ...grants.map((grant) => `       ${escapeLine(describeGrant(grant))}`),
    ...(wider.length > 0 ? describeExamples(exact?.examples) : []),
    ...wider.flatMap(({ allows, examples }, index) => [
      `  a${index + 2}, p${index + 2}  the same, and more:`,
      ...allows.map((text) => `       ${escapeLine(text)}`),
      ...describeExamples(examples),
    ]),
  ];
}

function describeExamples(examples: readonly string[] = []): string[] {
  return examples.map((text, index) => `       ${index === 0 ? "such as" : "       "}  ${escapeLine(text)}`);
}

function describeSubject(request: ApprovalRequest): string {
  const { permission, details = {} } = request;
  const command = requestedCommand(request);
  if (command !== undefined) return escapeText(command);
  const host = describeHostRequest(request);
  if (host !== undefined) return host;
  const serverTool = describeServerToolRequest(request);
  if (serverTool !== undefined) {
    const change = toolChange(request);
    return change === undefined ? serverTool : `${serverTool}\n\n${describeDiff(change)}`;
  }
  const paths = requestedPaths(request);
  if (paths.length === 0) return escapeText(JSON.stringify(details, undefined, 2));
  const subject = paths.map((path) => `${permission} ${escapeLine(path)}`).join("\n");
  return typeof details.diff === "string" ? `${subject}\n\n${describeDiff(details.diff)}` : subject;
}

/** So that nobody mistakes the end of a long command for all of it. */
function describeLength(request: ApprovalRequest): string[] {
  const command = requestedCommand(request);
  if (command === undefined) return [];
  const lines = command.split("\n").length;
  if (lines <= SCREEN_LINES && command.length <= SCREEN_CHARS) return [];
  return [`  The command has ${lines} lines and ${command.length} characters, all shown above.`];
}

function describeDiff(diff: string): string {
  const lines = diff.trimEnd().split("\n");
  const left = lines.length - DIFF_HEAD_LINES - DIFF_TAIL_LINES;
  if (left <= 0) return lines.map(describeDiffLine).join("\n");
  return [
    ...lines.slice(0, DIFF_HEAD_LINES).map(describeDiffLine),
    formatMark(`${left} lines of the diff omitted`),
    ...lines.slice(-DIFF_TAIL_LINES).map(describeDiffLine),
  ].join("\n");
}

function describeDiffLine(line: string): string {
  const left = line.length - DIFF_HEAD_CHARS - DIFF_TAIL_CHARS;
  if (left <= 0) return escapeLine(line);
  const [head, tail] = [line.slice(0, DIFF_HEAD_CHARS), line.slice(-DIFF_TAIL_CHARS)];
  return escapeLine(head) + formatMark(`${left} characters omitted`) + escapeLine(tail);
}

function indent(text: string): string[] {
  return text.split("\n").map((line) => `    ${line}`);
}

// Items further from the marked one can still be chosen by number or id.
const MAX_SHOWN = 40;
const MAX_TEXT_COLUMNS = 300;
const MAX_DEPTH = 12;

/** A list opened by a command, in line mode: its items are numbered. */
export class NumberedList {
  constructor(
    /** The command that selects from it, without the slash. */
    readonly command: string,
    private readonly picker: Picker,
  ) {}

  /** The lines of the list. */
  format(): string {
    const { items, selected, title } = this.picker.dialog;
    const first = Math.max(0, Math.min(selected - Math.floor(MAX_SHOWN / 2), items.length - MAX_SHOWN));
    const shown = items.slice(first, first + MAX_SHOWN);
    const after = items.length - first - shown.length;
    return [
      `${title}:`,
      ...(first > 0 ? [`  ${first} more above`] : []),
      ...shown.map((item, index) => `  ${first + index + 1}. ${formatItem(item)}`),
      ...(after > 0 ? [`  ${after} more below`] : []),
      `/${this.command} NUMBER${shown.some(hasOwnId) ? " or ID" : ""} selects one.`,
    ].join("\n");
  }

  /** The id selected by a number, an id or a unique id prefix; undefined if there is none. */
  find(reference: string): string | undefined {
    const { items } = this.picker.dialog;
    if (isListNumber(reference)) return items[Number(reference) - 1]?.id;
    const found = items.filter((item) => hasOwnId(item) && item.id.startsWith(reference));
    return found.length === 1 ? found[0]?.id : found.find(({ id }) => id === reference)?.id;
  }

  get length(): number {
    return this.picker.dialog.items.length;
  }

  async choose(id: string): Promise<void> {
    await this.picker.choose(id);
  }
}

/** True for up to four digits: longer numbers are id prefixes. */
export function isListNumber(text: string): boolean {
  return /^\d{1,4}$/.test(text);
}

function formatItem(item: PickerItem): string {
  const { id, label, detail = "", depth = 0 } = item;
  const text = toSingleLine(label.replace(/^●\s*/, "* ").replace(/^○\s*/, "- "), MAX_TEXT_COLUMNS);
  const facts = [text, toSingleLine(detail, MAX_TEXT_COLUMNS), isNamed(item) ? "" : id];
  return "  ".repeat(Math.min(depth, MAX_DEPTH)) + facts.filter((fact) => fact !== "").join(" | ");
}

/** False for a mere position in the list. */
function hasOwnId({ id }: PickerItem): boolean {
  return !isListNumber(id);
}

function isNamed(item: PickerItem): boolean {
  return !hasOwnId(item) || item.label.toLowerCase().includes(item.id.toLowerCase());
}

const MAX_QUESTION_COLUMNS = 2_000;

/** The model's question, its options with numbers, and how to answer. */
function formatUserQuestion({ header, question, options, multiSelect }: UserQuestion): string {
  const title = header === undefined ? question : `${header}: ${question}`;
  const items = options.map(({ label, description }, index) =>
    toSingleLine(
      `${index + 1}. ${label}${description === undefined ? "" : ` | ${description}`}`,
      MAX_TEXT_COLUMNS,
    ),
  );
  const numbers = multiSelect ? "Numbers with commas between them" : "A number";
  const how = options.length === 0 ? "Your answer" : `${numbers}, or your own answer`;
  return [
    toSingleLine(title, MAX_QUESTION_COLUMNS),
    ...items.map((item) => `  ${item}`),
    `${how} (empty: no answer): `,
  ].join("\n");
}

function formatChoiceHint({ options }: UserQuestion): string {
  return `Please give ${options.length === 1 ? "1" : `numbers from 1 to ${options.length}`}, or your own answer.\n`;
}

/** The chosen labels, or the user's own text; undefined for numbers that are not in the list. */
export function parseChoice(line: string, { options, multiSelect }: UserQuestion): string[] | undefined {
  const text = line.trim();
  const isNumbers = multiSelect ? /^\d+(?:[\s,]+\d+)*$/.test(text) : /^\d{1,3}$/.test(text);
  if (!isNumbers || options.length === 0) return [text];
  const numbers = [...new Set(text.split(/[\s,]+/).map(Number))];
  const labels = numbers.flatMap((number) => options[number - 1]?.label ?? []);
  return labels.length === numbers.length ? labels : undefined;
}

/** Asks for approvals in lines, one question at a time: `createApprove` asks the next when this one is answered. */
export class PlainApprovals {
  private answer: ((line: string | undefined) => void) | undefined;

  /** @param isStopped true once the asking run was stopped: no more questions then. */
  constructor(
    private readonly output: CliOutput,
    private readonly isStopped: () => boolean,
  ) {}

  /** The next line is an answer. */
  get isAsking(): boolean {
    return this.answer !== undefined;
  }

  readonly ask: AskPerson = async (request, verdict) => {
    for (let hint = ""; !this.isStopped(); hint = `${formatHint(request, verdict)}\n`) {
      this.output.write(`\n${hint}${formatQuestion(request, verdict)}`);
      const answer = await this.nextAnswer();
      if (answer !== undefined && wantsEdit(answer, request, verdict)) return this.askForCommand(request);
      const decision = answer === undefined ? undefined : parseAnswer(answer, verdict);
      if (decision !== undefined) return decision;
    }
    return STOPPED_ANSWER;
  };

  /** Asks the model's questions with numbered options. Undefined if the user does not answer one. */
  readonly askUser: AskUser = async (questions) => {
    const answers: string[][] = [];
    for (const question of questions) {
      const answer = await this.askOne(question);
      if (answer === undefined) return undefined;
      answers.push(answer);
    }
    return answers;
  };

  private async askOne(question: UserQuestion): Promise<string[] | undefined> {
    for (let hint = ""; !this.isStopped(); hint = formatChoiceHint(question)) {
      this.output.write(`\n${hint}${formatUserQuestion(question)}`);
      const line = await this.nextAnswer();
      if (line === undefined || line.trim() === "") return undefined;
      const answer = parseChoice(line, question);
      if (answer) return answer;
    }
    return undefined;
  }

  /** Answers the open question. @param line undefined: the run was stopped. */
  give(line: string | undefined): void {
    this.answer?.(line);
  }

  /** The user types the whole command again; a line-mode terminal cannot prefill it. */
  private async askForCommand(request: ApprovalRequest): Promise<CommandEdit> {
    const before = requestedCommand(request) ?? "";
    this.output.write(formatEditQuestion(before));
    const line = await this.nextAnswer();
    return { edited: line === undefined || line.trim() === "" ? before : line };
  }

  private nextAnswer(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.answer = (line) => {
        this.answer = undefined;
        resolve(line);
      };
    });
  }
}
