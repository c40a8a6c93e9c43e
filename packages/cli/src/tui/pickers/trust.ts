import type { TrustDescription } from "@diligent/core/config";
import type { ProjectSession } from "@diligent/core/harness";
import { ConfigError } from "@diligent/core/run";
import { orUsageError } from "../../errors.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../commands/types.ts";
import { formatCount } from "../text.ts";
import { notice } from "../view.ts";
import { type Choice, createChoice } from "./picker.ts";

/** Shows what trusting the project's configuration would activate, and asks; the decision applies at once. */
export async function askForTrust(context: CommandContext): Promise<void> {
  const { cwd, loaded, hasWaitingDefinitions } = await context.session();
  const description = await describe(cwd, context);
  await showTrust(description, context);
  if (description.state === "none") return;
  const { trust, knowledgeTrust } = loaded;
  const isHeldBack = [trust, knowledgeTrust.state].some(
    (state) => state === "untrusted" || state === "changed",
  );
  const isTrusted = description.state === "trusted" || !(isHeldBack || hasWaitingDefinitions);
  const choices = isTrusted
    ? [LEAVE_IT, await untrust(cwd, context)]
    : await trustChoices(description, context);
  context.open(createChoice("trust", titleOf(description), choices));
}

/**
 * Asks when a session begins in a project whose configuration has settings that need trust, and again if it
 * has changed since it was trusted. Resolves once the decision was made and applied.
 */
export async function askForTrustFirst(
  { cwd }: Pick<ProjectSession, "cwd">,
  context: CommandContext,
): Promise<void> {
  const description = await describe(cwd, context);
  if (description.state === "trusted" || countActivated(description) === 0) return;
  await showTrust(description, context);
  const choices = await trustChoices(description, context);
  await new Promise<void>((resolve, reject) => {
    const decided = choices.map(({ run, ...choice }) => ({
      ...choice,
      run: async () => {
        await Promise.resolve(run()).catch(reject);
        resolve();
      },
    }));
    const picker = createChoice("trust", titleOf(description), decided);
    context.open({ ...picker, close: () => resolve() });
  });
}

async function describe(cwd: string, { environment, show }: CommandContext): Promise<TrustDescription> {
  const { describeProjectTrust } = await import("@diligent/core/definitions");
  const description = await orUsageError(() => describeProjectTrust(cwd, environment), ConfigError);
  for (const { message } of description.warnings) show(notice("warning", message));
  return description;
}

async function showTrust(description: TrustDescription, { print }: CommandContext): Promise<void> {
  const { formatTrust } = await import("../../commands/trust.ts");
  print(formatTrust(description, { maxItems: MAX_SHOWN_ITEMS }).join("\n"));
}

// Of each kind; a project may define thousands.
const MAX_SHOWN_ITEMS = 50;

function countActivated({ activates, waiting }: TrustDescription): number {
  return activates.length + waiting.length;
}

function titleOf({ state }: TrustDescription): string {
  return state === "changed" ? "Trust the changed configuration?" : "Trust this project's configuration?";
}

const LEAVE_IT: Choice = { label: "Keep as is", run: () => {} };

/** The safe choice is first, so that an accidental Enter allows nothing. */
async function trustChoices(description: TrustDescription, context: CommandContext): Promise<Choice[]> {
  const { trustProject } = await import("@diligent/core/config");
  const { directory, waiting } = description;
  const count =
    waiting.length === 0
      ? formatCount(description.activates.length, "setting")
      : formatCount(countActivated(description), "item");
  return [
    { label: "Don't trust it", detail: "continue without the settings listed above", run: () => {} },
    {
      label: "Trust for now",
      detail: "until you quit; not saved",
      async run() {
        await context.reopen({ how: "reload", trustedOnce: description });
        note(context, `Trusted until you quit: ${directory}`);
      },
    },
    {
      label: "Trust it",
      detail: `${count} as listed; you are asked again when it changes`,
      async run() {
        await trustProject(description, context.environment);
        await context.reopen({ how: "reload" });
        note(context, `Trusted: ${directory}`);
      },
    },
  ];
}

async function untrust(cwd: string, context: CommandContext): Promise<Choice> {
  const { untrustProject } = await import("@diligent/core/config");
  return {
    label: "Revoke trust",
    async run() {
      const { directory } = await untrustProject(cwd, context.environment);
      await context.reopen({ how: "reload", trustedOnce: undefined });
      note(context, `No longer trusted: ${directory}`);
    },
  };
}
