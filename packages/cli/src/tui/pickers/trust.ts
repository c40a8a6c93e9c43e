import { isKnownModel, orUsageError } from "../../load-config.ts";
import { note } from "../commands/note.ts";
import type { CommandContext } from "../commands/types.ts";
import { createChoice } from "./choice.ts";

/** Says what trusting the project's configuration would make active, and asks; what is decided counts at once. */
export async function askForTrust(context: CommandContext): Promise<void> {
  const { cwd } = await context.session();
  const { environment } = context;
  const { describeTrust, trustProject, untrustProject } = await import("@diligent/core");
  const { formatTrust } = await import("../../commands/trust.ts");
  const description = await orUsageError(() => describeTrust(cwd, environment, { isKnownModel }));
  for (const { message } of description.warnings)
    context.show({ type: "notice", level: "warning", text: message });
  context.print(formatTrust(description).join("\n"));
  if (description.state === "none") return;
  const change = async (work: Promise<unknown>, said: string) => {
    await work;
    await context.reopen({ how: "reload" });
    note(context, `${said} ${description.directory}`);
  };
  const trust = {
    label: "Trust it",
    detail: "as it stands now; a change is asked about again",
    run: () => change(trustProject(description, environment), "Trusted:"),
  };
  const untrust = {
    label: "Take the trust back",
    run: () => change(untrustProject(cwd, environment), "No longer trusted:"),
  };
  const leave = { label: "Leave it as it is", run: () => {} };
  const choices = description.state === "trusted" ? [leave, untrust] : [leave, trust];
  context.open(createChoice("trust", "This project's configuration", choices));
}
