import { toProgram } from "../match-command.ts";
import { listSedCommands, type SedCommand } from "./sed-commands.ts";
import { HIDDEN } from "./text-value.ts";

/** What a call runs in turn: another call, or a line of a shell. */
export type Inner =
  | { words: readonly string[]; behind?: string }
  | { line: string; args?: readonly string[]; program?: string | undefined }
  | { script: string; args: readonly string[] }
  /** The standard input is a script. */
  | { stdin: true }
  /** The standard input has further words of a call. */
  | {
      words: readonly string[];
      takesInput: true;
      placeholder?: string | undefined;
      /** The file that has them instead. */
      file?: string | undefined;
      /** What divides them, if it is not any space. */
      separator?: string | undefined;
    }
  /** Code of another language. */
  | { code: string; isInline?: true }
  /** A file has such code. */
  | { codeFile: string }
  /** The standard input is such code. */
  | { inputCode: true }
  /** The standard input has lines for a shell: what the first group of the pattern matches. */
  | { inputLines: RegExp };

/** Options of a program that take the next word. */
type ValueOptions = RegExp;

const NONE: ValueOptions = /^$/;

/** Programs that run the call in their words, with those of their options that take a value, and how many words of their own come first. */
const WRAPPERS: Readonly<Record<string, readonly [ValueOptions, number]>> = {
  command: [NONE, 0],
  builtin: [NONE, 0],
  exec: [/^-a$/, 0],
  coproc: [NONE, 0],
  nohup: [NONE, 0],
  time: [/^-[fo]$/, 0],
  nice: [/^-n$/, 0],
  ionice: [/^-[cnp]$/, 0],
  chrt: [NONE, 1],
  taskset: [NONE, 1],
  stdbuf: [/^-[ioe]$/, 0],
  setsid: [NONE, 0],
  unbuffer: [NONE, 0],
  timeout: [/^(?:-[ks]|--signal|--kill-after)$/, 1],
  gtimeout: [/^-[ks]$/, 1],
  sudo: [/^-[ugCpTRDhrt]$/, 0],
  doas: [/^-[uC]$/, 0],
  busybox: [NONE, 0],
  toybox: [NONE, 0],
  "xvfb-run": [/^-[ens]$/, 0],
  strace: [/^-[eopsuEaP]$/, 0],
  ltrace: [/^-[eopsu]$/, 0],
  watch: [/^-n$/, 0],
  chroot: [NONE, 1],
  unshare: [NONE, 0],
  firejail: [NONE, 0],
  "dbus-run-session": [/^--(?:config-file|dbus-daemon)$/, 0],
  "systemd-run": [/^(?:-[pEtuM]|--(?:property|setenv|unit|slice|description|working-directory|uid|gid))$/, 0],
  chronic: [NONE, 0],
  catchsegv: [NONE, 0],
  corepack: [NONE, 0],
  rtk: [NONE, 0],
  npx: [/^(?:-p|--package)$/, 0],
  bunx: [/^(?:-p|--package)$/, 0],
  pnpx: [NONE, 0],
  uvx: [/^(?:--from|--with|-p)$/, 0],
  pipx: [NONE, 1],
  dotenv: [/^-[ef]$/, 0],
  "cross-env": [NONE, 0],
  direnv: [NONE, 2],
  entr: [NONE, 0],
  caffeinate: [NONE, 0],
  proxychains: [/^-f$/, 0],
  proxychains4: [/^-f$/, 0],
  faketime: [NONE, 1],
  parallel: [/^-[jNn]$/, 0],
};

/** The same for programs with a command of their own. */
const WRAPPING_COMMANDS: readonly (readonly string[])[] = [
  ...[
    "npm exec",
    "npm x",
    "pnpm exec",
    "pnpm dlx",
    "yarn exec",
    "yarn dlx",
    "bun x",
    "op run",
    "mise x",
    "uv run",
    "poetry run",
    "pipenv run",
  ],
  ...[
    "hatch run",
    "bundle exec",
    "rye run",
    "pdm run",
    "mise exec",
    "asdf exec",
    "nix run",
    "conda run",
    "git submodule foreach",
    "lerna exec",
  ],
].map((text) => text.split(" "));

const SHELLS = /^(?:ba|da|z|k|a|mk|fi|c|tc|rba)?sh\d?$/;
const INTERPRETERS: Readonly<Record<string, RegExp>> = {
  python: /^-[A-Za-z]*c$/,
  python2: /^-[A-Za-z]*c$/,
  python3: /^-[A-Za-z]*c$/,
  pypy3: /^-c$/,
  node: /^(?:-e|--eval|-p|--print|-pe)$/,
  bun: /^(?:-e|--eval|-p|--print)$/,
  deno: /^eval$/,
  perl: /^-[A-Za-z]*[eE]$/,
  ruby: /^-[A-Za-z]*e$/,
  php: /^-r$/,
  lua: /^-e$/,
  osascript: /^-e$/,
  Rscript: /^-e$/,
};
const SCRIPT_FILE = /\.(?:py|m?[jt]sx?|c[jt]s|pl|rb|php|lua)$/;

/** What a call runs in turn, one level down. */
export function unwrapCall(words: readonly string[]): Inner[] {
  const [given = "", ...args] = words;
  const program = toProgram(given);
  if (SHELLS.test(program)) return unwrapShell(args);
  if (program === "eval") return [{ line: args.filter((word) => word !== "--").join(" ") }];
  if (program === "source" || program === ".")
    return args[0] === undefined ? [] : [{ script: args[0], args: args.slice(1) }];
  if (program === "trap") return args[0] === undefined ? [] : [{ line: args[0] }];
  if (
    program === "su" ||
    program === "script" ||
    program === "runuser" ||
    program === "sg" ||
    program === "newgrp"
  )
    return optionLines(args, /^(?:-[a-z]*c|--command)$/);
  if (program === "env") return unwrapEnv(args);
  if (program === "bwrap") return [{ words: afterOptions(args, TWO_VALUES) }];
  if (program === "hyperfine")
    return skipOptions(
      args,
      /^(?:-[wrmMSNpcL]|--(?:warmup|runs|min-runs|max-runs|prepare|cleanup|setup))$/,
    ).map((line) => ({ line }));
  if (program === "flock") return unwrapFlock(args);
  if (program === "ssh" || program === "scp" || program === "sftp") return unwrapSsh(program, args);
  if (program === "xargs") return unwrapXargs(args);
  if (program === "find" || program === "fd" || program === "fdfind") return unwrapFind(args);
  if (program === "tmux" || program === "screen") return unwrapTerminal(args);
  if (program === "at" || program === "batch") return [{ stdin: true }];
  if (program === "vim" || program === "vi" || program === "nvim" || program === "ex")
    return [...editorLines(args), { inputLines: EDITOR_COMMAND }];
  if (program === "ed") return [{ inputLines: EDITOR_COMMAND }];
  const shellCommand = Object.hasOwn(SHELL_COMMANDS, program) ? SHELL_COMMANDS[program] : undefined;
  if (shellCommand)
    return [
      ...args.flatMap((word) => [...word.matchAll(shellCommand)].map(([, line = ""]) => ({ line }))),
      { inputLines: shellCommand },
    ];
  if (program === "sed" || program === "gsed") return listSedCommands(args).flatMap(unwrapSedCommand);
  if (program === "awk" || program === "gawk" || program === "mawk")
    return args.map((code, index) =>
      /^(?:-f|--file)$/.test(args[index - 1] ?? "") ? { codeFile: code } : { code, isInline: true },
    );
  if (program === "rake") return [{ codeFile: "Rakefile" }];
  if (program === "invoke" || program === "inv" || program === "fab")
    return [{ codeFile: program === "fab" ? "fabfile.py" : "tasks.py" }];

  if (program === "tar")
    return args.flatMap((word) => (/exec=(.+)$/.exec(word)?.[1] ?? "") || []).map((line) => ({ line }));
  if (program === "git") return unwrapGit(args);
  const found: Inner[] = listOptionLines(program, args);
  if (/^(?:expect|tclsh|wish|m4)$/.test(program) && args.every((word) => word.startsWith("-")))
    found.push({ inputCode: true });
  const evaluates = Object.hasOwn(INTERPRETERS, program) ? INTERPRETERS[program] : undefined;
  const at = evaluates ? args.findIndex((word) => evaluates.test(word)) : -1;
  const module = /^(?:python|pypy)\d?$/.test(program)
    ? args.findIndex((word) => /^-[A-Za-z]*m$/.test(word))
    : -1;
  if (at >= 0) found.push({ code: args[at + 1] ?? "", isInline: true });
  else if (module >= 0) {
    const path = (args[module + 1] ?? "").replaceAll(".", "/");
    for (const script of [`${path}.py`, `${path}/__main__.py`]) found.push({ script, args: [] });
  } else if (evaluates) {
    const own = /^(?:bun|deno)$/.test(program) && args[0] === "run" ? args.slice(1) : args;
    const file = own.find((word) => !word.startsWith("-"));
    const manager = /(?:^|\/)(npm|npx|yarn|pnpm|bun)(?:-cli)?(?:\.c?js)?$/.exec(file ?? "")?.[1];
    if (program === "node" && file !== undefined && manager !== undefined)
      found.push({ words: [manager, ...args.slice(args.indexOf(file) + 1)] });
    else if (file !== undefined && SCRIPT_FILE.test(file)) found.push({ script: file, args: [] });
    if (file === undefined || file === "-") found.push({ stdin: true });
  }
  // With these, it only says what a name stands for.
  if (program === "command" && /^-p?[vV]/.test(args[0] ?? "")) return [];
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  const command = WRAPPING_COMMANDS.find((name) =>
    name.every((word, index) => (index === 0 ? program : words[index]) === word),
  );
  if (wrapper) found.push(...unwrapPlain(program, args, wrapper));
  else if (command)
    found.push({
      words: withoutVersion(
        skipOptions(words.slice(command.length), /^(?:-p|--package|--with|-c|--python|--extra|--group|-n)$/),
      ),
      behind: command.join(" "),
    });
  return found;
}

function unwrapPlain(
  program: string,
  args: readonly string[],
  [options, own]: readonly [RegExp, number],
): Inner[] {
  const call = optionLines(args, /^(?:-c|--call|-S|--split-string)$/);
  if (call.length > 0 && /^(?:npx|env|parallel)$/.test(program)) return call;
  const rest = skipOptions(args, options).slice(own);
  const given = rest[0] === "--" ? rest.slice(1) : rest;
  const words = withoutAssignments(given);
  const assigned = given.slice(0, given.length - words.length);
  if (program === "parallel")
    return [
      {
        words: words.slice(0, words.indexOf(":::") < 0 ? words.length : words.indexOf(":::")),
        takesInput: true,
        placeholder: "{}",
      },
      ...listParallel(words),
    ];
  if (program === "watch") return [{ line: words.join(" ") }];
  return words.length === 0
    ? []
    : [
        {
          words: [...assigned, ...withoutVersion(words)],
          ...(/^(?:npx|bunx|pnpx|uvx)$/.test(program) && { behind: program }),
        },
      ];
}

/** The command on another machine, and those that options make ssh run on this one. */
function unwrapSsh(program: string, args: readonly string[]): Inner[] {
  const remote = skipOptions(args, /^-[bcDEeFIiJLlmOopQRSWw]$/).slice(1);
  const local = args.flatMap(
    (word) =>
      /^(?:-o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand)\s*[=\s]\s*(.+)$/is.exec(word)?.[1] ?? [],
  );
  return [...(program === "ssh" ? [remote.join(" ")] : []), ...local].map((line) => ({ line }));
}

/** In ed and vi, also after a range and a command that takes output: `r !ls`. */
const EDITOR_COMMAND = /(?:^|\|)[ \t:]*[\d.,$%]*(?:r|w|read|write|silent)?!?[ \t]*!+(.+)$/gm;

/** Commands of interactive programs that run a line of a shell. */
const SHELL_COMMANDS: Readonly<Record<string, RegExp>> = {
  sqlite3: /^\s*\.(?:shell|system)\s+(.+)$/gm,
  psql: /\\!\s*(.+)$/gm,
  mysql: /(?:^|;)\s*(?:\\!|system)\s+(.+)$/gm,
  ftp: /^\s*!(.+)$/gm,
  lftp: /(?:^|;)\s*!(.+)$/gm,
  gnuplot: /(?:^|;)\s*(?:!|system)\s*(.+)$/gm,
};

/** What a command of sed runs: the line of `e`, or the text to which `s` with the flag `e` has changed a line. */
function unwrapSedCommand(command: SedCommand): Inner[] {
  if (command.name === "e") return [{ line: command.text === "" ? HIDDEN : command.text }];
  return command.name === "s" && command.flags.includes("e")
    ? [{ line: command.text }, { line: HIDDEN }]
    : [];
}

/** `npm@latest` is npm. */
function withoutVersion([program = "", ...rest]: readonly string[]): readonly string[] {
  return program === "" ? rest : [program.replace(/(?<=\w)@[\w.^~-]+$/, ""), ...rest];
}

// Options of programs whose value is a line of a shell, or a call.
const LINE_OPTIONS: Readonly<Record<string, RegExp>> = {
  npm: /^(?:-c|--call)$/,
  pnpm: /^(?:-c|--shell-mode)$/,
  "nix-shell": /^--(?:run|command)$/,
  nix: /^(?:-c|--command)$/,
  gdb: /^(?:-ex|-eval-command|--eval-command)$/,
  rsync: /^(?:-e|--rsh|--rsync-path)$/,
  zip: /^(?:-TT|--unzip-command)$/,
  expect: /^-c$/,
};

/** Lines that options of a program give it to run. */
function listOptionLines(program: string, args: readonly string[]): Inner[] {
  const option = Object.hasOwn(LINE_OPTIONS, program) ? LINE_OPTIONS[program] : undefined;
  if (program === "bun" && args[0] === "exec") return [{ line: args.slice(1).join(" ") }];
  if (program === "npm" && args[0] === "explore")
    return [{ line: skipOptions(args.slice(2), NONE).join(" ") }];
  if (program === "pnpm" && /^-c$/.test(args[0] ?? "") && args[1] === "exec")
    return [{ line: args.slice(2).join(" ") }];
  if (program === "socat")
    return args.flatMap((word) => {
      const line = /^(?:EXEC|SYSTEM|SHELL):(.+?)(?:,(?:pty|stderr|setsid|sigint|sane|ctty)\b.*)?$/i.exec(
        word,
      )?.[1];
      return line === undefined ? [] : [{ line }];
    });
  if (option === undefined) return [];
  return optionLines(args, option).map((inner) =>
    "line" in inner ? { line: inner.line.replace(/^(?:!|shell |spawn )\s*/, "") } : inner,
  );
}

/** `env`, also with a line that it splits itself: `-S LINE`, attached, or in a group of options. */
function unwrapEnv(args: readonly string[]): Inner[] {
  for (const [index, word] of args.entries()) {
    const [, attached] = /^(?:-[a-zA-Z0]*S|--split-string(?:=|$))(.*)$/s.exec(word) ?? [];
    if (attached !== undefined && word.startsWith("-")) {
      const [line = "", ...rest] =
        attached === "" ? args.slice(index + 1) : [attached, ...args.slice(index + 1)];
      return [{ line: [line, ...rest].join(" ") }];
    }
    if (!word.startsWith("-") && !/^\w+=/.test(word)) break;
  }
  const words = skipOptions(args, /^(?:-[uC]|--unset|--chdir)$/);
  return words.length === 0 ? [] : [{ words }];
}

const TWO_VALUES =
  /^--(?:(?:ro-|dev-)?bind(?:-try)?|symlink|setenv|file|bind-data|ro-bind-data|chmod|overlay)$/;
const NO_VALUE = /^--(?:unshare-.*|share-net|new-session|die-with-parent|clearenv|as-pid-1|disable-userns)$/;

/** The words after the options of bubblewrap, which take none, one or two values. */
function afterOptions(args: readonly string[], two: RegExp): readonly string[] {
  let at = 0;
  while (/^--./.test(args[at] ?? ""))
    at += two.test(args[at] ?? "") ? 3 : NO_VALUE.test(args[at] ?? "") ? 1 : 2;
  return args.slice(args[at] === "--" ? at + 1 : at);
}

/** `parallel git {} ::: push`. */
function listParallel(words: readonly string[]): Inner[] {
  const at = words.indexOf(":::");
  if (at < 0) return [];
  const command = words.slice(0, at);
  return words.slice(at + 1).map((value) => ({
    line: (command.some((word) => word.includes("{}"))
      ? command.map((word) => word.replaceAll("{}", value))
      : [...command, value]
    ).join(" "),
  }));
}

function unwrapShell(args: readonly string[]): Inner[] {
  const at = args.findIndex((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word));
  if (at >= 0) {
    const rest = skipOptions(args.slice(at + 1), /^[-+]o$/);
    return rest[0] === undefined ? [] : [{ line: rest[0], args: rest.slice(2), program: rest[1] }];
  }
  const rest = skipOptions(args, /^(?:[-+]O|[-+]o|--rcfile|--init-file)$/);
  const start = args.findIndex((word) => /^--(?:rcfile|init-file)$/.test(word));
  const startFile: Inner[] = start < 0 ? [] : [{ script: args[start + 1] ?? "", args: [] }];
  const [script, ...further] = rest[0] === "--" ? rest.slice(1) : rest;
  if (script === undefined || script === "-" || args.some((word) => /^-[a-z]*s/.test(word)))
    return [...startFile, { stdin: true }];
  return [...startFile, { script, args: further }];
}

function unwrapFlock(args: readonly string[]): Inner[] {
  const lines = optionLines(args, /^(?:-c|--command)$/);
  return lines.length > 0 ? lines : [{ words: skipOptions(args, /^-[wE]$/).slice(1) }];
}

function unwrapXargs(args: readonly string[]): Inner[] {
  const inserted = /^(?:-I|-i|--replace)(.*)$/;
  const at = args.findIndex((word) => inserted.test(word));
  const attached = inserted.exec(args[at] ?? "")?.[1]?.replace(/^=/, "");
  const placeholder = at < 0 ? undefined : attached || (args[at] === "-I" ? args[at + 1] : "{}");
  const words = skipOptions(args, /^(?:-[IanPLdsE]|--max-args|--max-procs|--delimiter|--arg-file)$/);
  const findValue = (option: RegExp) => {
    const found = args.findIndex((word) => option.test(word));
    if (found < 0) return undefined;
    return option.exec(args[found] ?? "")?.[1] || args[found + 1];
  };
  const isNull = args.some((word) => /^(?:-[a-zA-Z]*0|--null)$/.test(word));
  return [
    {
      words: words.length === 0 ? ["echo"] : words,
      takesInput: true,
      placeholder,
      file: findValue(/^(?:-a|--arg-file(?:=(.*))?)$/),
      separator: isNull ? "\0" : findValue(/^(?:-d|--delimiter(?:=(.*))?)$/)?.replace(/^\\n$/, "\n"),
    },
  ];
}

function unwrapFind(args: readonly string[]): Inner[] {
  const found: Inner[] = [];
  for (const [index, word] of args.entries()) {
    if (!/^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(word)) continue;
    const rest = args.slice(index + 1);
    const end = rest.findIndex((each) => each === ";" || each === "+" || each === "\\;");
    const place = args.find((each) => !each.startsWith("-")) ?? ".";
    found.push({ words: (end < 0 ? rest : rest.slice(0, end)).map((each) => each.replaceAll("{}", place)) });
  }
  return found;
}

function unwrapTerminal(args: readonly string[]): Inner[] {
  const rest = args.filter((word) => !/^(?:Enter|C-m|KPEnter)$/.test(word));
  const at = rest.findIndex((word) =>
    /^(?:new-session|new-window|split-window|send-keys|send|new|neww|splitw|respawn-pane|run-shell|if-shell|pipe-pane|-dm\w*)$/.test(
      word,
    ),
  );
  return at < 0
    ? []
    : rest
        .slice(at + 1)
        .filter((word) => !word.startsWith("-"))
        .map((line) => ({ line }))
        .concat({ line: skipOptions(rest.slice(at + 1), /^-[tsncxy]$/).join(" ") });
}

function editorLines(args: readonly string[]): Inner[] {
  return args.flatMap((word) =>
    [...word.matchAll(/(?:^\+?:?|\|)\s*(?:silent\s+)?!\s*(.+)$/g)].map(([, line = ""]) => ({ line })),
  );
}

/** Options and configuration of git that run something. */
function unwrapGit(args: readonly string[]): Inner[] {
  const pager = args.includes("grep")
    ? args.flatMap((word) => /^(?:-O|--open-files-in-pager=)(.+)$/.exec(word)?.[1] ?? [])
    : [];
  const found: Inner[] = optionLines(
    args,
    /^(?:--exec|-x|--upload-pack|--receive-pack|--tree-filter|--msg-filter|--index-filter|--env-filter|--commit-filter|--ext-diff)$/,
  );
  found.push(...pager.map((line) => ({ line })));
  const configured = args.flatMap(
    (word) =>
      /^(?:core\.(?:editor|pager|sshCommand|fsmonitor|hooksPath)|alias\.[\w-]+|sequence\.editor|diff\.external|credential\.helper|pager\.\w+)=(.*)$/i.exec(
        word,
      )?.[1] ?? [],
  );
  found.push(
    ...configured.filter((value) => /^!|\s/.test(value)).map((value) => ({ line: value.replace(/^!/, "") })),
  );
  const at = args.findIndex((word, index) => word === "run" && args[index - 1] === "bisect");
  if (at >= 0) found.push({ words: args.slice(at + 1) });
  const each = args.findIndex((word, index) => word === "foreach" && args[index - 1] === "submodule");
  if (each >= 0) found.push({ line: skipOptions(args.slice(each + 1), NONE).join(" ") });
  return found;
}

function optionLines(args: readonly string[], option: RegExp): Inner[] {
  return args.flatMap((word, index) => {
    if (option.test(word)) return args[index + 1] === undefined ? [] : [{ line: args[index + 1] ?? "" }];
    const [name = "", ...value] = word.split("=");
    return value.length > 0 && option.test(name) ? [{ line: value.join("=") }] : [];
  });
}

/** Without leading options; those that match take the next word, too. */
export function skipOptions(words: readonly string[], withValue: RegExp): readonly string[] {
  let at = 0;
  while (at < words.length && /^[-+]./.test(words[at] ?? "") && words[at] !== "--")
    at += withValue.test(words[at] ?? "") ? 2 : 1;
  return words.slice(words[at] === "--" ? at + 1 : at);
}

export function withoutAssignments(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  return at < 0 ? [] : words.slice(at);
}
