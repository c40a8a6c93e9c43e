import type { TrustDescription } from "@diligent/core";
import { ConfigError } from "@diligent/core/run";
import { isKnownModel } from "../../load-config.ts";
import type { OpenSession } from "../../open-session.ts";
import { orUsageError } from "../../usage-error.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../note.ts";
import { formatCount } from "../text/format-amount.ts";
import { notice } from "../view.ts";
import { type Choice, createChoice } from "./choice.ts";

/** Says what trusting the project's configuration would make active, and asks; what is decided counts at once. */
export async function askForTrust(context: CommandContext): Promise<void> {
  const { cwd, loaded } = await context.session();
  const description = await describe(cwd, context);
  await showTrust(description, context);
  if (description.state === "none") return;
  const isTrusted = description.state === "trusted" || loaded.trust === "trusted";
  const choices = isTrusted
    ? [LEAVE_IT, await untrust(cwd, context)]
    : await trustChoices(description, context);
  context.open(createChoice("trust", titleOf(description), choices));
}

/**
 * Asks when a session begins in a project whose configuration holds something that only trust makes active; one that has
 * changed since it was trusted is asked about again. Resolves once that is decided, and what was decided counts.
 */
export async function askForTrustFirst(
  { cwd, loaded }: Pick<OpenSession, "cwd" | "loaded">,
  context: CommandContext,
): Promise<void> {
  if (loaded.trust === "none" || loaded.trust === "trusted") return;
  const description = await describe(cwd, context);
  if (description.activates.length === 0) return;
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
  const { describeTrust } = await import("@diligent/core");
  const description = await orUsageError(
    () => describeTrust(cwd, environment, { isKnownModel }),
    ConfigError,
  );
  for (const { message } of description.warnings) show(notice("warning", message));
  return description;
}

async function showTrust(description: TrustDescription, { print }: CommandContext): Promise<void> {
  const { formatTrust } = await import("../../commands/format-trust.ts");
  print(formatTrust(description).join("\n"));
}

function titleOf({ state }: TrustDescription): string {
  return state === "changed" ? "Trust the changed configuration?" : "Trust this project's configuration?";
}

const LEAVE_IT: Choice = { label: "Leave it as it is", run: () => {} };

/** No comes first, so that Enter, pressed for something else, allows nothing. */
async function trustChoices(description: TrustDescription, context: CommandContext): Promise<Choice[]> {
  const { trustProject } = await import("@diligent/core");
  const { directory, activates } = description;
  return [
    { label: "Don't trust it", detail: "go on without what is listed above", run: () => {} },
    {
      label: "This once",
      detail: "until you leave; nothing is remembered",
      async run() {
        await context.reopen({ how: "reload", trustedOnce: description });
        note(context, `Trusted until you leave: ${directory}`);
      },
    },
    {
      label: "Trust it",
      detail: `${formatCount(activates.length, "setting")} as listed; a change is asked about again`,
      async run() {
        await trustProject(description, context.environment);
        await context.reopen({ how: "reload" });
        note(context, `Trusted: ${directory}`);
      },
    },
  ];
}

async function untrust(cwd: string, context: CommandContext): Promise<Choice> {
  const { untrustProject } = await import("@diligent/core");
  return {
    label: "Take the trust back",
    async run() {
      const { directory } = await untrustProject(cwd, context.environment);
      await context.reopen({ how: "reload", trustedOnce: undefined });
      note(context, `No longer trusted: ${directory}`);
    },
  };
}
