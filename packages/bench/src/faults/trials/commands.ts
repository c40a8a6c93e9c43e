import { decideApproval } from "@diligent/core/run";
import { BYPASS_ALLOW_PATTERNS, BYPASS_COMMANDS } from "../../../../core/test/support/bypass-commands.ts";
import { createEverydayProject } from "../../../../core/test/support/everyday-project.ts";
import { pick } from "../chance.ts";
import type { FaultTrial } from "../trial.ts";

const RULES = BYPASS_ALLOW_PATTERNS.map(
  (pattern) => ({ permission: "execute", pattern, action: "allow" }) as const,
);
const PREFIXES = ["", "", "true && ", "true || ", "  ", "{ :; } ; ", "time "] as const;
const SUFFIXES = ["", "", " ; true", " | cat", " &", "\n", " # ls", " && echo done"] as const;
const COMMANDS_A_TRIAL = 25;

/** Commands that talked some reader into letting them through, amid others: each is asked for, whatever rules allow. */
export const COMMANDS: FaultTrial = {
  name: "commands",
  about: "commands made to slip past the approval rules, alone and amid others",
  async run({ random, check }) {
    const [first, ...others] = BYPASS_COMMANDS;
    if (first === undefined) throw new Error("There are no commands.");
    using project = createEverydayProject({ isHostile: true });
    for (let count = 0; count < COMMANDS_A_TRIAL; count++) {
      const command = `${pick(random, PREFIXES)}${pick(random, [first, ...others])}${pick(random, SUFFIXES)}`;
      const request = {
        permission: "execute" as const,
        toolName: "bash",
        description: "",
        details: { command },
      };
      const place = { root: project.root, cwd: project.root, home: project.top };
      const { action } = await decideApproval(request, { ...place, rules: RULES, mode: "ask" });
      check("unasked", action === "allow" ? `allowed: ${JSON.stringify(command)}` : undefined);
    }
  },
};
