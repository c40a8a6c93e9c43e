import { describe, expect, test } from "bun:test";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalContext } from "../../src/approval/types.ts";
import { createEverydayProject } from "../support/everyday-project.ts";

async function decide(command: string, context: Partial<ApprovalContext> = {}): Promise<string> {
  using project = createEverydayProject({ isHostile: false });
  const box = {
    wrapCommand: () => {
      throw new Error("Deciding runs nothing.");
    },
    leave: () => () => [],
  };
  const { action } = await decideApproval(
    { permission: "execute", toolName: "bash", description: "", details: { command } },
    {
      root: project.root,
      cwd: project.root,
      sandboxState: async () => ({ kind: "boxed", mayLeave: true, wrapper: box }),
      ...context,
    },
  );
  return action;
}

describe("a sandboxed command asks if its words remove history that only git keeps:", () => {
  const LOSSES = [
    "rm -rf .git",
    "rm -rf ./.git/refs",
    "cd sub && rm -rf .git",
    "find .git -delete",
    "find . -path './.git/*' -exec rm {} +",
    "mv .git x",
    "sudo rm -rf .git",
    "bash -c 'rm -rf .git'",
    "echo x > .git/HEAD",
    "x=$(rm -rf .git)",
    "git reflog expire --expire=now --all && git gc --prune=now",
    "git prune",
    "git branch -D topic",
    "git branch -d -f topic",
    "git -C sub stash drop",
    "git stash clear",
    "git tag -d v1",
    "git update-ref -d refs/heads/topic",
    "git push . :topic",
    "git push --force",
    "git filter-branch --all",
    "git ls-files | xargs git tag -d",
  ];
  for (const command of LOSSES) {
    test(command, async () => {
      expect(await decide(command)).toBe("ask");
      expect(await decide(command, { mode: "deny" })).toBe("deny");
      expect(await decide(command, { mode: "auto" })).toBe("allow");
    });
  }

  test("a rule of the user that allows it is enough", async () => {
    const rules = [{ permission: "execute", pattern: "git branch -D *", action: "allow" }] as const;
    expect(await decide("git branch -D topic", { rules })).toBe("allow");
  });
});

describe("a sandboxed command needs no approval for ordinary work with git:", () => {
  const ORDINARY = [
    "git add -A && git commit -m 'drop the .git suffix'",
    "git stash && git pull --rebase; git stash pop",
    "git branch -d topic",
    "git reset --hard HEAD~1",
    "git gc",
    "git push origin main",
    "git reflog",
    "git tag v2",
    "rm -f .git/index.lock",
    "cp -r .git /tmp/copy",
    "cat .git/HEAD",
    "rm .gitignore .github/x.yml",
    "find . -name '*.ts' -not -path './.git/*'",
  ];
  for (const command of ORDINARY) test(command, async () => expect(await decide(command)).toBe("allow"));
});
