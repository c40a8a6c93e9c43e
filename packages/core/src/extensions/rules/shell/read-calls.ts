import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import type { ReadSyntax, SyntaxNode } from "../../../approval/bash/grammar.ts";
import { toProgram } from "../match-command.ts";
import { type Expansion, expandAll, expandText, expandWord } from "./expand-words.ts";
import { findOutput } from "./known-output.ts";
import { findScriptLines } from "./project-scripts.ts";
import {
  HIDDEN,
  isKnown,
  joinAlternatives,
  MAX_ALTERNATIVES,
  readable,
  readEscapes,
  SPLIT,
  UNKNOWN,
} from "./text-value.ts";
import { type Inner, unwrapCall, withoutAssignments } from "./unwrap-call.ts";

/** A call that a line makes, however it is written. */
export interface SeenCall {
  /** Its program without a directory, and its arguments; `UNKNOWN` and `HIDDEN` stand for what cannot be seen. */
  words: readonly string[];
  /** Where it runs; absolute. */
  cwd: string;
  /** The words of the programs that start it, such as `uv run`. */
  behind: readonly string[];
  /** `NAME=value` before it, or exported before. */
  assignments: readonly string[];
  stdin?: string | undefined;
  /** The files that redirections write and read; absolute. */
  writes: readonly string[];
  reads: readonly string[];
}

/** What a command line does, as far as it can be seen without running it. */
export interface SeenLine {
  calls: readonly SeenCall[];
  /** Code of other languages that it runs. */
  code: readonly string[];
  /** True if something decodes or computes what is run. */
  isHidden: boolean;
  /** True if not all of it could be read. */
  isIncomplete: boolean;
  /** The branch that it switches to before something else runs; undefined if it stays. */
  branch: string | undefined;
  /** Where the links lead that it creates; absolute paths. */
  newLinks: ReadonlyMap<string, string>;
}

/** The machine on which a line would run. */
export interface ShellPlace {
  /** Absolute. */
  cwd: string;
  home: string | undefined;
  readSyntax: ReadSyntax;
  /** The text of a file, undefined if there is none, or none that may be a script. @param path absolute. */
  readFile(path: string): string | undefined;
  /** Where links lead; the path itself if it does not exist. @param path absolute. */
  realPath(path: string): string;
  /** The value of an environment variable, if commands have it. */
  variable(name: string): string | undefined;
}

const MAX_CALLS = 2_000;
const MAX_DEPTH = 12;
const MAX_LINE = 60_000;

/** Everything that a line runs, through shells, functions, aliases, variables, scripts and the like. Runs nothing. */
export function readCalls(line: string, place: ShellPlace): SeenLine {
  const reader = new CallReader(place);
  reader.runLine(readable(line), { depth: 0 });
  return reader.result();
}

interface Context {
  depth: number;
  stdin?: string | undefined;
  behind?: readonly string[];
  assignments?: readonly string[];
  writes?: readonly string[];
  reads?: readonly string[];
}

class CallReader implements Expansion {
  readonly home: string | undefined;
  private readonly calls: SeenCall[] = [];
  private readonly code: string[] = [];
  private readonly variables = new Map<string, readonly string[]>();
  /** Names that `declare -n` makes stand for others. */
  private readonly references = new Map<string, string>();
  /** Names of variables that the line exports. */
  private readonly exported = new Set<string>();
  private exportsAll = false;
  private readonly functions = new Map<string, SyntaxNode>();
  private readonly aliases = new Map<string, string>();
  private readonly gitAliases = new Map<string, string>();
  /** Files that the line writes, and programs that it links or copies. */
  private readonly files = new Map<string, string>();
  private readonly links = new Map<string, string>();
  /** Where the links lead that the line creates; absolute. */
  private readonly newLinks = new Map<string, string>();
  private cwd: string;
  private branch: string | undefined;
  private isHidden = false;
  private isIncomplete = false;
  /** How many conditional parts surround what is read: values may then also be the earlier ones. */
  private conditions = 0;
  private context: Context = { depth: 0 };

  constructor(private readonly place: ShellPlace) {
    this.cwd = place.cwd;
    this.home = place.home;
  }

  result(): SeenLine {
    const { calls, code, isHidden, isIncomplete, branch, newLinks } = this;
    return { calls, code, isHidden, isIncomplete, branch, newLinks };
  }

  /** @returns what it may print. */
  runLine(line: string, context: Context): readonly string[] {
    if (context.depth > MAX_DEPTH || line.length > MAX_LINE || this.calls.length > MAX_CALLS) {
      this.isIncomplete = true;
      return [UNKNOWN];
    }
    if (line.includes(HIDDEN)) this.isHidden = true;
    // A word may continue on the next line, which the grammar takes for its end.
    const { root, hasError } = this.place.readSyntax(line.replace(/(?<=[^\s\\'])\\\n(?=\S)/g, ""));
    if (hasError) this.guess(line, context);
    return this.run(root, context);
  }

  // --- Expansion

  valuesOf(name: string): readonly string[] | undefined {
    if (name === "PWD") return [this.cwd];
    const known = this.variables.get(this.references.get(name) ?? name);
    if (known) return known;
    const value = this.place.variable(name);
    return value === undefined ? undefined : [value];
  }

  assign(name: string, values: readonly string[]): void {
    if (this.exportsAll) this.exported.add(name);
    const earlier = this.conditions > 0 ? (this.variables.get(name) ?? []) : [];
    this.variables.set(name, [...new Set([...earlier, ...values])].slice(0, MAX_ALTERNATIVES));
  }

  substitute(node: SyntaxNode): readonly string[] {
    const printed = this.runChildren(node, {
      ...this.context,
      depth: this.context.depth + 1,
      stdin: undefined,
      writes: [],
      reads: [],
    });
    const file = /^(?:\$\(|`)\s*<\s*(\S+)\s*[)`]$/.exec(node.text)?.[1]?.replace(/["'\\]/g, "");
    if (file === undefined) return printed;
    // It prints the file, as cat does.
    this.emit(["cat", file], this.context);
    return [this.readText(file) ?? UNKNOWN];
  }

  // --- Statements

  private run(node: SyntaxNode, context: Context): readonly string[] {
    const before = this.context;
    this.context = context;
    try {
      return this.runNode(node, context);
    } finally {
      this.context = before;
    }
  }

  private runNode(node: SyntaxNode, context: Context): readonly string[] {
    switch (node.kind) {
      case "command":
        return this.runCommand(node, context);
      case "variable_assignment":
        this.runAssignment(node);
        return [""];
      case "declaration_command":
        return this.runDeclaration(node, context);
      case "unset_command":
        for (const { text } of node.children) this.exported.delete(text);
        return [""];
      case "function_definition":
        this.defineFunction(node);
        return [""];
      case "redirected_statement":
        return this.runRedirected(node, context);
      case "pipeline":
        return this.runPipeline(node, context);
      case "subshell":
      case "command_substitution": {
        const { cwd } = this;
        const printed = this.runChildren(node, context);
        this.cwd = cwd;
        return printed;
      }
      case "if_statement":
      case "case_statement":
      case "while_statement":
      case "c_style_for_statement":
        return this.runConditional(node, context);
      case "for_statement":
        return this.runFor(node, context);
      case "comment":
        return [""];
      default:
        return this.runChildren(node, context);
    }
  }

  private runChildren(node: SyntaxNode, context: Context): readonly string[] {
    const printed: (readonly string[])[] = [];
    for (const child of node.children) if (isStatement(child)) printed.push(this.run(child, context));
    return joinAlternatives(printed);
  }

  private runConditional(node: SyntaxNode, context: Context): readonly string[] {
    this.conditions += 1;
    const printed = this.runChildren(node, context);
    // A loop may use what its body has set.
    if (node.kind === "while_statement") this.runChildren(node, context);
    this.conditions -= 1;
    return printed;
  }

  private runFor(node: SyntaxNode, context: Context): readonly string[] {
    const name = node.children.find(({ field }) => field === "variable")?.text;
    const values = node.children
      .filter(({ field }) => field === "value")
      .flatMap((value) => expandWord(value, this).flat());
    if (name !== undefined)
      this.variables.set(name, values.length > 0 ? values.slice(0, MAX_ALTERNATIVES) : [UNKNOWN]);
    return this.runConditional(node, context);
  }

  private defineFunction(node: SyntaxNode): void {
    const name = node.children.find(({ field }) => field === "name")?.text;
    const body = node.children.find(({ field }) => field === "body");
    if (name !== undefined && body) this.functions.set(name, body);
  }

  private runAssignment(node: SyntaxNode): void {
    const name = node.children.find(({ field }) => field === "name")?.text.replace(/\[.*$/, "");
    const value = node.children.find(({ field }) => field === "value");
    if (name === undefined) return;
    const values =
      value === undefined ? [""] : value.kind === "array" ? this.expandArray(value) : expandText(value, this);
    const isAdded = node.children.some(({ kind }) => kind === "+=");
    this.assign(
      name,
      isAdded
        ? joinAlternatives([this.valuesOf(name) ?? [""], value?.kind === "array" ? [SPLIT] : [""], values])
        : values,
    );
    if (name === "BASH_ENV" || name === "ENV")
      for (const each of values) this.runScript(each, [], this.context);
    if (COMMAND_VARIABLES.test(name))
      for (const each of values)
        this.runLine(each.replace(/^\|/, ""), { ...this.context, depth: this.context.depth + 1 });
  }

  private expandArray(node: SyntaxNode): string[] {
    const elements = node.children.filter(({ kind }) => kind !== "(" && kind !== ")");
    return expandAll(elements, this).map((words) => words.join(SPLIT));
  }

  private runDeclaration(node: SyntaxNode, context: Context): readonly string[] {
    const [program, ...rest] = node.children;
    for (const child of rest) if (child.kind === "variable_assignment") this.runAssignment(child);
    if (program?.text === "export" || rest.some(({ text }) => /^-[a-zA-Z]*x/.test(text)))
      for (const { kind, text } of rest)
        if (kind === "variable_assignment" || kind === "variable_name")
          this.exported.add(text.split("=", 1)[0] ?? "");
    if (program?.text !== "export" && rest.some(({ text }) => /^-[a-zA-Z]*n/.test(text)))
      for (const child of rest)
        for (const assignment of child.kind === "variable_assignment" ? toAssignments(child, this) : []) {
          const [name = "", target = ""] = assignment.split("=");
          this.references.set(name, target);
        }
    for (const words of expandAll(
      rest.filter(({ kind }) => kind !== "variable_assignment"),
      this,
    )) {
      const assigned = rest
        .filter(({ kind }) => kind === "variable_assignment")
        .flatMap((child) => toAssignments(child, this));
      this.emit([program?.text ?? "export", ...assigned, ...words], context);
    }
    return [""];
  }

  private runPipeline(node: SyntaxNode, context: Context): readonly string[] {
    let printed: readonly string[] = [""];
    let isFirst = true;
    for (const child of node.children.filter(isStatement)) {
      const inputs = isFirst ? [context.stdin] : printed;
      printed = inputs.flatMap((stdin) => this.run(child, { ...context, stdin })).slice(0, MAX_ALTERNATIVES);
      isFirst = false;
    }
    return printed;
  }

  private runRedirected(node: SyntaxNode, context: Context): readonly string[] {
    const body = node.children.find(({ field }) => field === "body") ?? node.children.find(isStatement);
    const redirects = node.children.filter(({ kind }) => /_redirect$/.test(kind));
    // The grammar puts a redirection around a whole list, but it belongs to the last command.
    const listed = body?.kind === "list" ? body.children.filter(isStatement) : [];
    const last = listed.at(-1) ?? body;
    const before = listed.slice(0, -1).map((child) => this.run(child, context));
    const printed = this.withRedirects(redirects, context, (redirected) =>
      last ? this.run(last, redirected) : [""],
    );
    return joinAlternatives([...before, printed]);
  }

  private withRedirects(
    redirects: readonly SyntaxNode[],
    context: Context,
    run: (context: Context) => readonly string[],
  ): readonly string[] {
    if (redirects.length === 0) return run(context);
    let { stdin } = context;
    const writes = [...(context.writes ?? [])];
    const reads = [...(context.reads ?? [])];
    const outputs: string[] = [];
    for (const redirect of redirects) {
      if (redirect.kind === "heredoc_redirect") stdin = this.readHeredoc(redirect);
      else if (redirect.kind === "herestring_redirect") {
        const word = redirect.children.at(-1);
        stdin = word ? (expandText(word, this)[0] ?? UNKNOWN) : UNKNOWN;
      } else {
        const operator = redirect.children.find(({ kind }) => /^[<>&|]+$/.test(kind))?.kind ?? ">";
        const destination = redirect.children.find(({ field }) => field === "destination");
        const [target] = destination ? expandText(destination, this) : [];
        if (target === undefined || /^\d+$|^-$|^\/dev\/(?:null|std\w+|tty)$/.test(target)) continue;
        const path = this.resolve(target);
        if (operator === "<") {
          reads.push(path);
          stdin = this.readText(target) ?? UNKNOWN;
        } else {
          writes.push(path);
          if (!redirect.children.some(({ kind, text }) => kind === "file_descriptor" && text === "2"))
            outputs.push(path);
        }
      }
    }
    const printed = run({ ...context, stdin, writes, reads });
    for (const path of outputs) this.files.set(path, (this.files.get(path) ?? "") + (printed[0] ?? UNKNOWN));
    let after = outputs.length > 0 ? [""] : printed;
    // What follows a here-document on its line is part of its node.
    for (const redirect of redirects.filter(({ kind }) => kind === "heredoc_redirect")) {
      const isPiped =
        redirect.children.some(({ kind }) => kind === "|" || kind === "|&") ||
        redirect.children.some(({ kind }) => kind === "pipeline");
      for (const child of redirect.children.filter(isStatement))
        after = (isPiped ? after : [context.stdin])
          .flatMap((input) => this.run(child, { ...context, stdin: input }))
          .slice(0, MAX_ALTERNATIVES);
      const inner = redirect.children.filter(({ kind }) => kind === "file_redirect");
      if (inner.length > 0) after = [...this.withRedirects(inner, context, () => printed)];
    }
    return after;
  }

  private readHeredoc(redirect: SyntaxNode): string {
    const start = redirect.children.find(({ kind }) => kind === "heredoc_start")?.text ?? "";
    const body = redirect.children.find(({ kind }) => kind === "heredoc_body");
    if (!body) return "";
    const isStripped = redirect.children.some(({ kind }) => kind === "<<-");
    const text = /['"\\]/.test(start) ? body.text : (expandWordOfHeredoc(body, this)[0] ?? UNKNOWN);
    return isStripped ? text.replace(/^\t+/gm, "") : text;
  }

  // --- Commands

  private runCommand(node: SyntaxNode, context: Context): readonly string[] {
    const redirects = node.children.filter(({ kind }) => /_redirect$/.test(kind));
    const assigned = node.children.filter(({ kind }) => kind === "variable_assignment");
    const nodes = node.children.filter(
      ({ kind }) => !/_redirect$|^variable_assignment$/.test(kind) && !/^[<>&|]/.test(kind),
    );
    // Assignments in front hold for this command only, but its words may be a function that uses them.
    for (const child of assigned) this.runAssignment(child);
    const assignments = assigned.flatMap((child) => toAssignments(child, this));
    return this.withRedirects(
      redirects,
      { ...context, assignments: [...(context.assignments ?? []), ...assignments] },
      (redirected) =>
        expandAll(nodes, this)
          .flatMap((words) => this.call(words, redirected))
          .slice(0, MAX_ALTERNATIVES),
    );
  }

  /** Notes a call, does what it does to the shell, and follows what it runs. @returns what it may print. */
  private call(given: readonly string[], context: Context): readonly string[] {
    const own = withoutAssignments(given);
    const set = given.slice(0, given.length - own.length);
    const inner = {
      ...context,
      depth: context.depth + 1,
      assignments: [...(context.assignments ?? []), ...set],
    };
    if (own.length === 0) return [""];
    if (context.depth > MAX_DEPTH || this.calls.length > MAX_CALLS) {
      this.isIncomplete = true;
      return [UNKNOWN];
    }
    const [first = "", ...args] = own;
    const body = this.functions.get(first);
    if (body) return this.callFunction(body, args, inner);
    const alias = this.aliases.get(first);
    if (alias !== undefined) {
      this.aliases.delete(first);
      const printed = this.runLine([alias, ...args.map(quoteWord)].join(" "), inner);
      this.aliases.set(first, alias);
      return printed;
    }
    const calls = this.findPrograms(first).map((program) =>
      this.readGit([program, ...args], first, inner.assignments),
    );
    for (const words of calls) {
      this.emit(words, inner);
      this.applyBuiltin(words, inner);
    }
    return this.follow(calls, given, inner);
  }

  /** A call of git with the configuration that variables give it, also if it is called as `git-push`. */
  private readGit(
    words: readonly string[],
    given: string,
    assignments: readonly string[],
  ): readonly string[] {
    const [program = "", ...args] = words;
    const subcommand = /^git-([a-z][a-z-]*)$/.exec(toProgram(given))?.[1];
    if (subcommand !== undefined && OWN_PROGRAMS.test(subcommand)) return ["git", subcommand, ...args];
    if (program === "hub") return ["git", ...args];
    if (program === "jj" && args[0] === "git") return args;
    if (program !== "git") return words;
    const findValue = (name: string) =>
      assignments.findLast((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ??
      this.valuesOf(name)?.[0];
    const configured = [
      ...(findValue("GIT_CONFIG_PARAMETERS") ?? "").matchAll(/'([^']+)'(?:='([^']*)')?/g),
    ].map(([, key, value]) => (value === undefined ? `${key}` : `${key}=${value}`));
    for (let index = 0; index < MAX_ALTERNATIVES; index++) {
      const key = findValue(`GIT_CONFIG_KEY_${index}`);
      if (key === undefined) break;
      configured.push(`${key}=${findValue(`GIT_CONFIG_VALUE_${index}`) ?? ""}`);
    }
    const written = args.flatMap((word, index) => {
      const from = /^--config-env(?:=(.*))?$/.exec(word);
      const [key = "", variable = ""] = (from ? (from[1] ?? args[index + 1] ?? "") : "").split("=");
      return variable === "" ? [] : [`${key}=${findValue(variable) ?? UNKNOWN}`];
    });
    return ["git", ...[...configured, ...written].flatMap((setting) => ["-c", setting]), ...args];
  }

  private callFunction(body: SyntaxNode, args: readonly string[], context: Context): readonly string[] {
    const saved = ["@", "*", ...args.map((_, index) => String(index + 1))].map(
      (name) => [name, this.variables.get(name)] as const,
    );
    this.setArguments(args);
    const printed = context.depth > MAX_DEPTH ? [UNKNOWN] : this.run(body, { ...context, assignments: [] });
    for (const [name, values] of saved) if (values) this.variables.set(name, values);
    return printed;
  }

  private setArguments(args: readonly string[]): void {
    this.variables.set("@", [args.join(SPLIT)]);
    this.variables.set("*", [args.join(SPLIT)]);
    for (const [index, value] of args.entries()) this.variables.set(String(index + 1), [value]);
  }

  /** @param calls the call under each name that its program has. */
  private follow(
    calls: readonly (readonly string[])[],
    given: readonly string[],
    context: Context,
  ): readonly string[] {
    const { stdin } = context;
    let printed: readonly string[] | undefined;
    for (const words of calls) {
      if ((words[0] ?? "").includes(HIDDEN)) this.isHidden = true;
      for (const inner of unwrapCall(words)) printed = this.runInner(inner, context);
    }
    const script = (given[0] ?? "").includes("/") ? this.runProgramFile(given, context) : undefined;
    const place = {
      cwd: this.cwd,
      readFile: (path: string) => this.files.get(path) ?? this.place.readFile(path),
      stdin,
      variable: (name: string) =>
        context.assignments?.findLast((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ??
        this.valuesOf(name)?.[0],
    };
    for (const words of calls) {
      for (const { line, cwd } of findScriptLines(words, place)) {
        const before = this.cwd;
        this.cwd = cwd;
        this.runLine(line, context);
        this.cwd = before;
      }
      if (words[0] === "git") this.runGitAlias(words, context);
    }
    return printed ?? script ?? [this.outputOf(calls[0] ?? [], stdin)];
  }

  private outputOf(words: readonly string[], stdin: string | undefined): string {
    if (words[0] === "cat" && words.length > 1) {
      const texts = words
        .slice(1)
        .filter((word) => word !== "-")
        .map((path) => this.readText(path) ?? UNKNOWN);
      if (texts.length > 0) return texts.join("");
    }
    if (words[0] === "tee")
      for (const path of words.slice(1))
        if (!path.startsWith("-")) this.files.set(this.resolve(path), stdin ?? UNKNOWN);
    return findOutput(words, stdin);
  }

  private runInner(inner: Inner, context: Context): readonly string[] {
    if ("line" in inner) {
      if (inner.args) this.setArguments(inner.args);
      if (inner.program !== undefined) this.variables.set("0", [inner.program]);
      return this.runLine(inner.line, context);
    }
    if ("script" in inner) return this.runScript(inner.script, inner.args, context);
    if ("code" in inner) {
      this.addCode(inner.code, context);
      if (inner.isInline && runsComputedText(inner.code)) this.isHidden = true;
      return [HIDDEN];
    }
    if ("codeFile" in inner) {
      const code = this.readText(inner.codeFile);
      if (code !== undefined) this.addCode(code, context);
      return [UNKNOWN];
    }
    if ("inputCode" in inner) {
      this.addCode(context.stdin ?? "", context);
      return [UNKNOWN];
    }
    if ("inputLines" in inner) {
      for (const [, line = ""] of (context.stdin ?? "").matchAll(inner.inputLines))
        this.runLine(line, { ...context, stdin: undefined });
      return [UNKNOWN];
    }
    if ("stdin" in inner)
      return context.stdin === undefined
        ? [UNKNOWN]
        : this.runText(context.stdin, [], { ...context, stdin: undefined });
    if ("takesInput" in inner) return this.runWithInput(inner, context);
    const behind = inner.behind === undefined ? context.behind : [...(context.behind ?? []), inner.behind];
    return inner.words.length === 0
      ? [UNKNOWN]
      : this.call(inner.words, { ...context, ...(behind && { behind }) });
  }

  private runWithInput(
    { words, placeholder, file, separator }: Extract<Inner, { takesInput: true }>,
    context: Context,
  ): readonly string[] {
    const given = (file === undefined ? context.stdin : this.readText(file)) ?? UNKNOWN;
    const input = given.replace(/\0/g, "\n");
    const values =
      placeholder === undefined && separator !== undefined
        ? [given.split(separator).map((word) => word.replace(/\n$/, ""))]
        : placeholder === undefined
          ? [
              input
                .split(/\s+/)
                .map((word) => word.replace(/["']/g, ""))
                .filter((word) => word !== ""),
            ]
          : input
              .split("\n")
              .filter((line) => line !== "")
              .map((line) => [line]);
    return values.slice(0, MAX_ALTERNATIVES).flatMap((added) => {
      const filled =
        placeholder === undefined
          ? [...words, ...added]
          : words.map((word) => word.replaceAll(placeholder, added[0] ?? ""));
      // Its words are those of one call; a program in the input is one, too.
      return this.call(filled, { ...context, stdin: undefined });
    });
  }

  /** A file that is run by its path. */
  private runProgramFile(words: readonly string[], context: Context): readonly string[] | undefined {
    const path = this.resolve(words[0] ?? "");
    return this.files.has(path) || isScriptPath(path)
      ? this.runScript(words[0] ?? "", words.slice(1), context)
      : undefined;
  }

  private runScript(script: string, args: readonly string[], context: Context): readonly string[] {
    const isInput = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/.test(script);
    const text = isInput ? context.stdin : this.readText(script);
    if (text === undefined) return [UNKNOWN];
    return this.runText(text, args, context);
  }

  private runText(text: string, args: readonly string[], context: Context): readonly string[] {
    if (text.includes(HIDDEN)) this.isHidden = true;
    const interpreter = /^#!\s*(\S+)(?:\s+(?:-S\s+)?(\S+))?/.exec(text);
    const program = toProgram(
      (interpreter?.[1]?.endsWith("/env") ? interpreter[2] : interpreter?.[1]) ?? "sh",
    );
    const isCode = interpreter
      ? !/^(?:ba|da|z|k|a)?sh$/.test(program)
      : /^\s*(?:import |from \w+ import|const |let |require\(|use strict|<\?php)/m.test(text) &&
        !/^\s*(?:if \[|fi$|done$|esac$)/m.test(text);
    if (isCode) {
      this.addCode(text, context);
      return [UNKNOWN];
    }
    if (args.length > 0) this.setArguments(args);
    return this.runLine(text, { ...context, depth: context.depth + 1 });
  }

  /** Code of another language: the texts in it that may be commands are read as such, where it runs any. */
  private addCode(text: string, context: Context): void {
    this.code.push(text);
    if (text.includes(HIDDEN)) this.isHidden = true;
    if (!STARTS_PROGRAMS.test(text)) return;
    // Languages whose words need no quotes.
    const bare = [...text.matchAll(/\b(?:spawn|exec|syscmd\(|esyscmd\()\s*([\w./-]+(?: [\w./=@:-]+)+)/g)];
    for (const literal of [...findCommandsInCode(text), ...bare.map(([, line = ""]) => line)])
      this.runLine(literal, { ...context, depth: context.depth + 1 });
  }

  private runGitAlias(words: readonly string[], context: Context): void {
    const at = words.findIndex(
      (word, index) =>
        index > 0 &&
        !word.startsWith("-") &&
        !/^-[cC]$|^--(?:git-dir|work-tree|namespace|exec-path|config-env)$/.test(words[index - 1] ?? ""),
    );
    const name = words[at];
    if (name === undefined) return;
    const given = words
      .map((word) => /^alias\.([\w-]+)=(.*)$/s.exec(word))
      .find((match) => match?.[1]?.toLowerCase() === name.toLowerCase());
    const value = given?.[2] ?? this.gitAliases.get(name.toLowerCase()) ?? this.findGitAlias(name);
    if (value === undefined) return;
    const rest = words
      .slice(at + 1)
      .map(quoteWord)
      .join(" ");
    this.runLine(value.startsWith("!") ? `${value.slice(1)} ${rest}` : `git ${value} ${rest}`, {
      ...context,
      depth: context.depth + 1,
    });
  }

  /** Of the repository, and of the user. */
  private findGitAlias(name: string): string | undefined {
    const paths = [
      join(this.cwd, ".git", "config"),
      ...(this.home === undefined
        ? []
        : [join(this.home, ".gitconfig"), join(this.home, ".config/git/config")]),
    ];
    const directories = this.cwd
      .split("/")
      .map((_, index, parts) => join(parts.slice(0, index + 1).join("/") || "/", ".git", "config"));
    for (const path of [...paths, ...directories]) {
      const text = this.place.readFile(path);
      const section =
        text === undefined ? undefined : /\[alias\]([^[]*(?:\[(?!\w+[\]\s])[^[]*)*)/i.exec(text)?.[1];
      const value =
        section === undefined
          ? undefined
          : new RegExp(`^\\s*${name.replace(/[^\w-]/g, "")}\\s*=\\s*(.*)$`, "im").exec(section)?.[1];
      if (value !== undefined)
        return value
          .trim()
          .replace(/^"(.*)"$/, "$1")
          .replace(/\\"/g, '"');
    }
    return undefined;
  }

  // --- What calls do to the shell

  private applyBuiltin(words: readonly string[], context: Context): void {
    const [program = "", ...args] = words;
    const operands = args.filter((word) => !word.startsWith("-"));
    if ((program === "cd" || program === "pushd") && operands[0] !== undefined && isKnown(operands[0]))
      this.cwd = this.resolve(operands[0]);
    else if (program === "alias") {
      for (const word of args) {
        const [, name, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
        if (name !== undefined && value !== undefined) this.aliases.set(name, value);
      }
    } else if (program === "set" && /^-[a-z]*a|^allexport$/.test(args.find((word) => word !== "-o") ?? ""))
      this.exportsAll = true;
    else if (program === "set" && args.includes("--")) this.setArguments(args.slice(args.indexOf("--") + 1));
    else if (program === "read") this.readInto(operands, context.stdin);
    else if (program === "mapfile" || program === "readarray")
      this.variables.set(operands.at(-1) ?? "MAPFILE", [
        (context.stdin ?? UNKNOWN).trimEnd().replaceAll("\n", SPLIT),
      ]);
    else if (program === "dd") this.copy([dataOperand(args, "if"), dataOperand(args, "of")]);
    else if (
      /^(?:g?sed|perl|ruby)$/.test(program) &&
      args.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(word))
    )
      this.rewrite(program, args, operands);
    else if (program === "printf" && args[0] === "-v" && args[1] !== undefined)
      this.assign(args[1], [findOutput(words, undefined)]);
    else if (program === "hash" && args[0] === "-p" && args[2] !== undefined)
      this.links.set(args[2], toProgram(args[1] ?? ""));
    else if (program === "ln" || program === "cp" || program === "mv" || program === "install")
      this.copy(operands, program);
    else if (program === "git") this.applyGit(operands, args);
    else if (program === "npm" && operands[0] === "pkg" && operands[1] === "set")
      this.setScripts(operands.slice(2));
  }

  private readInto(names: readonly string[], stdin: string | undefined): void {
    const lines = stdin === undefined ? [UNKNOWN] : stdin.split("\n").filter((line) => line !== "");
    const rows = lines.map((line) => line.trim().split(/\s+/));
    const targets = names.length === 0 ? ["REPLY"] : names;
    for (const [index, name] of targets.entries()) {
      const isLast = index === targets.length - 1;
      this.variables.set(
        name,
        rows
          .map((row) => (isLast ? row.slice(index).join(" ") : (row[index] ?? "")))
          .slice(0, MAX_ALTERNATIVES),
      );
    }
  }

  /** A program by another name is the program, and a copy of a script is the script. */
  private copy(operands: readonly string[], program = "cp"): void {
    const [from = "", to] = operands;
    if (to === undefined || operands.length > 2) return;
    const text = this.readText(from);
    const target = this.resolve(to);
    if (text !== undefined) this.files.set(target, text);
    else {
      if (program === "ln" && isKnown(from)) this.newLinks.set(target, resolveFrom(dirname(target), from));
      this.links.set(target, this.findProgramFile(from));
      this.links.set(join(target, basename(from)), this.findProgramFile(from));
    }
  }

  /** A file that an editor of streams has changed in place: what is in it then can only be known of plain changes. */
  private rewrite(program: string, args: readonly string[], operands: readonly string[]): void {
    const isPlain = program.endsWith("sed") && args.filter((word) => word.startsWith("-")).length === 1;
    const groups = /^s(?<mark>[/|,#])(?<from>[\w -]+)\k<mark>(?<to>[\w .-]*)\k<mark>g?$/.exec(
      isPlain ? (operands[0] ?? "") : "",
    )?.groups;
    for (const path of operands) {
      const text = this.readText(path);
      if (text !== undefined)
        this.files.set(
          this.resolve(path),
          groups ? text.replaceAll(groups.from ?? "", groups.to ?? "") : HIDDEN,
        );
    }
  }

  private applyGit(operands: readonly string[], args: readonly string[]): void {
    const [command, first] = operands;
    if (command === "checkout" || command === "switch")
      this.branch = args.includes("--")
        ? this.branch
        : operands.at(-1) === command
          ? this.branch
          : operands[1];
    if (command !== "config" || first === undefined) return;
    const program = operands.findIndex((word) =>
      /^(?:core\.(?:editor|pager|sshCommand|fsmonitor)|pager\.\w+|sequence\.editor|diff\.external|credential\.helper)$/i.test(
        word,
      ),
    );
    const line = program < 0 ? undefined : operands[program + 1];
    if (line !== undefined)
      this.runLine(line.replace(/^!/, ""), { ...this.context, depth: this.context.depth + 1 });
    const at = operands.findIndex((word) => /^alias\./i.test(word));
    const [, name] = /^alias\.([\w-]+)$/i.exec(operands[at] ?? "") ?? [];
    const value = args.slice(args.indexOf(operands[at] ?? "") + 1).join(" ");
    if (name !== undefined && value !== "") this.gitAliases.set(name.toLowerCase(), value);
  }

  private setScripts(settings: readonly string[]): void {
    const path = join(this.cwd, "package.json");
    const scripts = settings.flatMap((setting) => {
      const [, name, line] = /^scripts\.([^=]+)=(.*)$/s.exec(setting) ?? [];
      return name === undefined || line === undefined ? [] : [[name, line] as const];
    });
    if (scripts.length > 0) this.files.set(path, JSON.stringify({ scripts: Object.fromEntries(scripts) }));
  }

  // --- Files and names

  private emit(
    words: readonly string[],
    { behind = [], assignments = [], writes = [], reads = [], stdin }: Context,
  ): void {
    const [program = "", ...args] = words;
    const exported = [...this.exported].flatMap((name) =>
      (this.valuesOf(name) ?? []).map((value) => `${name}=${value}`),
    );
    this.calls.push({
      words: [toProgram(program), ...args],
      cwd: this.cwd,
      behind,
      assignments: [...exported, ...assignments],
      writes,
      reads,
      ...(stdin !== undefined && { stdin }),
    });
  }

  /** The names of a program: by its path, the file that a link leads to may have another one. */
  private findPrograms(word: string): readonly string[] {
    const path = this.resolve(word);
    const linked = this.links.get(path) ?? this.links.get(word);
    if (linked !== undefined) return [linked];
    if (!word.includes("/")) return [word];
    const given = toProgram(word);
    return isKnown(word) ? [...new Set([given, toProgram(this.place.realPath(path))])] : [given];
  }

  /** The name of the file that is a program. */
  private findProgramFile(word: string): string {
    return toProgram(this.findPrograms(word).at(-1) ?? word);
  }

  private readText(path: string): string | undefined {
    const given = path.indexOf("\uE002");
    if (given >= 0) return path.slice(given + 1);
    if (!isKnown(path) || path === "") return undefined;
    const absolute = this.resolve(path);
    return this.files.get(absolute) ?? this.place.readFile(absolute);
  }

  private resolve(path: string): string {
    return resolveFrom(this.cwd, path);
  }

  /** A line that the grammar cannot read: its pieces as plain words. */
  private guess(line: string, context: Context): void {
    this.isIncomplete = true;
    const text = line.replace(/\{([^{}\s]*,[^{}\s]*)\}/g, (_, list: string) => list.replaceAll(",", " "));
    for (const piece of text.split(/[;&|\n(){}`]/)) {
      const words = withoutAssignments(
        piece
          .replace(/["'\\]/g, "")
          .split(/\s+/)
          .filter((word) => word !== ""),
      );
      if (words.length > 0) this.emit(words, context);
    }
  }
}

function toAssignments(node: SyntaxNode, shell: Expansion): string[] {
  const name = node.children.find(({ field }) => field === "name")?.text ?? "";
  const value = node.children.find(({ field }) => field === "value");
  return (value === undefined ? [""] : expandText(value, shell)).map((text) => `${name}=${text}`);
}

function expandWordOfHeredoc(body: SyntaxNode, shell: Expansion): string[] {
  return expandText(body, shell);
}

const NOT_STATEMENTS =
  /^(?:word|string|raw_string|concatenation|heredoc_start|heredoc_body|heredoc_end|file_redirect|herestring_redirect|variable_name|file_descriptor|number|comment|string_content|extglob_pattern|special_variable_name)$/;

function isStatement({ kind }: SyntaxNode): boolean {
  return (
    /^[a-zA-Z_]{2,}$/.test(kind) &&
    !NOT_STATEMENTS.test(kind) &&
    !/^(?:if|then|else|fi|do|done|for|in|while|until|case|esac|function|select)$/.test(kind)
  );
}

/** Calls that run a text which is not written in their parentheses. */
const RUNS_VALUE =
  /(?:(?<![.\w$])(?:exec|eval|system|popen|compile|Function)|\bos\.(?:system|popen|exec\w*|spawn\w*)|\bsubprocess\.(?:run|call|check_call|check_output|getoutput|getstatusoutput|Popen)|\b(?:child_process["']?\)?|cp)\.exec|\b(?:exec|execFile|spawn)Sync|\b(?:execFile|spawn|shell_exec|passthru|proc_open|IO\.popen))(?:\s*\(|\s+(?=\$))[\s([]*(?=[\w$@])(?![bBrRuUfF]{1,2}["'])|"\s*\|\s*getline|\b\w+\s*\|\s*getline/;
/** Ways to decode text or to put it together from pieces. */
const COMPUTES =
  /base64|b64|b32|b85|a85|fromhex|unhexlify|\batob\b|["']hex["']|codecs\.|rot_?13|zlib|gzip|marshal|\bchr\s*\(|fromCharCode|fromCodePoint|\bu?n?pack\b|["']\s*\.join\(|\.join\(\s*["']|\bjoin\s*\(?\s*["']|\breversed?\b|\[::-1\]|\.=|["']\s*[+.]\s*["'$\w]|[$\w]\s*\+\s*["']|"[^"\n]*"[ \t]+"[^"\n]*"|\btr\/|translate\(/;

/** True for code that decodes or assembles a text and runs it, so that nobody can see what it runs. */
function runsComputedText(code: string): boolean {
  return RUNS_VALUE.test(code) && COMPUTES.test(code);
}

const STARTS_PROGRAMS =
  /subprocess|getline|"\s*\||syscmd|spawn|\bsh\s+["']|\bos\.|popen|exec|spawn|system|shell|Bun\.\$|\$`|%x|qx|`|Process|Command|IO\.|proc_open|passthru|run\(/i;
const MAX_LITERALS = 200;

/** The texts of code that may be commands: parts that are joined are one text, and a list of texts is one, too. */
function findCommandsInCode(code: string): string[] {
  const joined = code
    .replace(/["']\s*[+.]\s*["']/g, "")
    .replace(/qw\s*[([{/|]([^)\]}/|]*)[)\]}/|]/g, (_, words: string) => JSON.stringify(words))
    .replace(/(?:%x|qx)\s*[([{/|]([^)\]}/|]*)[)\]}/|]/g, (_, words: string) => JSON.stringify(words));
  const lists = joined.replace(/["']\s*,\s*\[?\s*["']/g, " ");
  const texts = [...joined.matchAll(LITERAL), ...lists.matchAll(LITERAL)].map(
    ([, double, single, back]) => double ?? single ?? back ?? "",
  );
  return [...new Set(texts.map((text) => readEscapes(text)))]
    .filter((text) => text.trim() !== "")
    .slice(0, MAX_LITERALS);
}

const LITERAL = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`/g;

function resolveFrom(directory: string, path: string): string {
  return normalize(isAbsolute(path) ? path : join(directory, path));
}

/** The file that `dd if=FILE` or `of=FILE` names. */
function dataOperand(args: readonly string[], name: string): string {
  return args.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}

/** Commands of git that are also programs of its own directory. */
const OWN_PROGRAMS =
  /^(?:push|send-pack|commit|commit-tree|reset|rebase|merge|checkout|switch|restore|clean|stash|tag|branch|am|apply|cherry-pick|revert|rm|mv|add|remote|config|update-ref|filter-branch|lfs|subtree|svn|p4|request-pull|fetch|pull|clone|gc|reflog|worktree|submodule)$/;

/** Variables whose value is a command that other programs run. */
const COMMAND_VARIABLES =
  /^(?:GIT_(?:EDITOR|SEQUENCE_EDITOR|SSH|SSH_COMMAND|PAGER|EXTERNAL_DIFF|ASKPASS)|(?:SSH_ASK|SUDO_ASK)PASS|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN|LESSCLOSE|PROMPT_COMMAND|PS[04]|FCEDIT|RSYNC_RSH)$/;

/** Not a program of the system or of a package. */
function isScriptPath(path: string): boolean {
  return !/^\/(?:usr|bin|sbin|opt|nix|snap|lib)\/|\/node_modules\/|\/\.?venv\//.test(path);
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./\uE000\uE001-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
