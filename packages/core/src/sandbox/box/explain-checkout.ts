/** What writes the files of a commit into the tree, and what makes a repository. */
const WRITES_TREE =
  /\bgit\b[^\n;&|]*\s(?:checkout|switch|merge|rebase|stash|pull|reset|restore|cherry-pick|revert|am|apply|read-tree|checkout-index)\b/;
const MAKES_REPOSITORY = /\bgit\b[^\n;&|]*\s(?:init|clone|worktree|submodule)\b/;

const COULD_NOT_WRITE =
  /Device or resource busy|unable to (?:unlink|create file)|Read-only file system|cannot unlink/i;

const SETTINGS = /could not (?:write|lock) config file/i;
// What it leaves in the place where it is, and says so, makes no difference to a commit.
const LEFT = /failed to remove/i;

export interface CheckoutCircumstances {
  /** The command line as the model wrote it. */
  command: string;
  mayLeave: boolean;
}

/** True where git says, with exit code 0 too, that it could not write a file. */
export function isHalfCheckout(output: string, command: string): boolean {
  const isAboutFiles = (line: string) =>
    COULD_NOT_WRITE.test(line) && !SETTINGS.test(line) && !LEFT.test(line);
  const isOfGit = WRITES_TREE.test(command) || MAKES_REPOSITORY.test(command);
  return isOfGit && output.split("\n").some(isAboutFiles);
}

/** What it means where git could not write the settings of a repository, which it says and goes on; undefined else. */
export function explainSettings(output: string): string | undefined {
  return SETTINGS.test(output)
    ? "a repository's settings (.git/config) cannot be written in the sandbox: what git wanted to note there, such as which branch another follows, is not noted; everything else was done"
    : undefined;
}

/**
 * What it means where git could not write control files, or they were moved away after it did; undefined for a command
 * that shows no such thing of git in it. For the model.
 */
export function explainCheckout({ command, mayLeave }: CheckoutCircumstances): string | undefined {
  const further = mayLeave
    ? "run it with outside_sandbox and a reason, the user is asked"
    : "ask the user to run it";
  if (WRITES_TREE.test(command)) {
    return `control files of the commit (CLAUDE.md, CI files, .env and the like) could not be written in the sandbox, so the working tree now differs from the commit: do not commit these differences. See git status; undo this, and ${further}`;
  }
  return MAKES_REPOSITORY.test(command)
    ? `a repository cannot be made in the sandbox, and may be half made now: to make one, ${further}`
    : undefined;
}
