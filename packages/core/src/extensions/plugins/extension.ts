import type { HarnessExtension, Notice } from "../../harness/types.ts";
import type { ActivePlugins } from "../definitions/plugin.ts";

/** Where the plugins are read. */
interface PluginsPlace {
  plugins(): Promise<ActivePlugins>;
}

/** Reports the user's plugins; their definitions are read where those of the user and the project are. */
export async function openPlugins(place: PluginsPlace): Promise<HarnessExtension> {
  const plugins = await place.plugins();
  return {
    name: "plugins",
    commands: [
      {
        name: "plugins",
        description: "The plugins of this session, and those that are not used",
        run: () => describe(plugins),
      },
    ],
    openSession: ({ agent }) => ({ notices: agent ? [] : toNotices(plugins) }),
    close() {},
  };
}

function toNotices({ inactive, problems }: ActivePlugins): Notice[] {
  const messages = [
    ...problems,
    ...inactive.map(
      ({ name, reason }) =>
        `The plugin ${name} is not used: ${reason}; see "diligent plugins update ${name}"`,
    ),
  ];
  return messages.map((message) => ({ level: "warning", code: "plugin_not_used", message }));
}

function describe({ active, inactive, problems }: ActivePlugins): string {
  const lines = [
    ...active.map(({ name, root, problems: own }) =>
      [`${name}  ${root}`, ...own.map((problem) => `    ${problem}`)].join("\n"),
    ),
    ...inactive.map(({ name, reason }) => `${name}  not used: ${reason}`),
    ...problems,
  ];
  return lines.length === 0 ? "There are no plugins; see diligent plugins --help." : lines.join("\n");
}
