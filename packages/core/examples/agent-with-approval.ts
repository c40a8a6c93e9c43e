import { createAgent, type Tool } from "@diligent/core";
import { z } from "zod";

const parameters = z.object({ environment: z.enum(["staging", "production"]) });
const deploy: Tool<typeof parameters> = {
  name: "deploy",
  description: "Deploys the project to an environment.",
  parameters,
  // Without `approval`, each call asks for `execute` with its arguments.
  execute: async ({ environment }) => ({ output: `Deployed to ${environment}.` }),
};

const approve = ({ toolName, details }: { toolName: string; details?: Record<string, unknown> }) =>
  toolName === "deploy" && details?.environment === "staging" ? "once" : "reject";
const [model = "sonnet", prompt = "Deploy to staging."] = process.argv.slice(2);
const agent = await createAgent({ model, cwd: process.cwd(), tools: [deploy], approve });
agent.subscribe((event) => event.type === "tool_end" && console.log(event.toolName, event.output));
await agent.prompt(prompt);
await agent.close();
