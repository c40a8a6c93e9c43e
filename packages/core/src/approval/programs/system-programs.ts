import type { ProgramSpec } from "./program-spec.ts";

const NO_OPERANDS: ProgramSpec = { operands: "none" };
const TEXT: ProgramSpec = { operands: "text" };

/** Programs that touch no files of the project: they say what the system is like, or make something of their words. */
export const SYSTEM_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  basename: { flags: "a z --multiple --zero", values: "s --suffix", operands: "text" },
  dirname: { flags: "z --zero", operands: "text" },
  expr: TEXT,
  // What takes longer is for somebody to decide.
  factor: { operands: "text", operandPattern: /^\d{1,18}$/ },
  sleep: { operands: "text", operandPattern: /^\d{1,2}(?:\.\d+)?s?$/ },
  which: { flags: "a --all", operands: "text" },
  // Anything but a format, which begins with a plus, would set the clock. A time zone may be a file.
  date: {
    flags: "u R --utc --universal --rfc-email",
    optionalValues: "I --iso-8601",
    values: "d --date --rfc-3339",
    valuePattern: /^[^="]*$/,
    operands: "text",
    operandPattern: /^\+(?!.*\d{5})/s,
  },
  uname: {
    flags: "a s n r v m p i o --all --kernel-name --kernel-release --machine --operating-system",
    operands: "none",
  },
  id: { flags: "u g G n r z --user --group --groups --name --real", operands: "text" },
  groups: TEXT,
  // An operand would set it, and the full name would be looked up in the network.
  hostname: { flags: "s --short", operands: "none" },
  nproc: { flags: "--all", operands: "none" },
  free: { flags: "b k m g h w t --human --mega --giga --total --wide", operands: "none" },
  uptime: { flags: "p s --pretty --since", operands: "none" },
  arch: NO_OPERANDS,
  whoami: NO_OPERANDS,
  logname: NO_OPERANDS,
  tty: { flags: "s --silent", operands: "none" },
  // Of the variables, those that say nothing but where and how somebody works.
  printenv: {
    operands: "text",
    minOperands: 1,
    operandPattern:
      /^(?:HOME|PATH|PWD|OLDPWD|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|TMPDIR|HOSTNAME|PAGER|EDITOR)$/,
  },

  pwd: { flags: "L P", operands: "none", isBuiltin: true },
  true: { ...TEXT, isBuiltin: true },
  false: { ...TEXT, isBuiltin: true },
  ":": { ...TEXT, isBuiltin: true },
  type: { flags: "a f p P t", operands: "text", isBuiltin: true },
};
