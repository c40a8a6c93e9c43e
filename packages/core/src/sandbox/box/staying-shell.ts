/**
 * Runs the rest of its words, reports the end of that (see `EndReport`), and stays until nothing else runs in the box,
 * which ends with it: so what a command left in the background lives on. The shell's own remarks about how the command
 * ended go nowhere.
 */
const SCRIPT = `exec 4>&2 2>/dev/null
pause=1
trap pause=0.05 TERM
echo begun >&3
"$@" 2>&4 3>&- 4>&-
status=$?
trap pause=0.05 TERM
set -- /proc/[0-9]*
runs_on=0
[ $# -gt 2 ] && runs_on=1
exec >/dev/null 4>&-
echo "$status $runs_on" >&3
exec 3>&-
while [ $# -gt 2 ]; do sleep $pause; set -- /proc/[0-9]*; done
exit $status`;

/** The command line of a shell that runs one of another shell; to be the first process of a box. */
export function toStayingShell(argv: readonly string[]): string[] {
  const [shell = "sh"] = argv;
  return [shell, "-c", SCRIPT, "sandbox", ...argv];
}
