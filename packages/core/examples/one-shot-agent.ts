import { createAgent } from "@diligent/core";

const [model = "sonnet", prompt = "What is this project about?"] = process.argv.slice(2);
const agent = await createAgent({ model, cwd: process.cwd() });
// Without `approve`, the agent may read the project; calls that need approval are refused.
const { text, stopReason, cost } = await agent.prompt(prompt);
console.log(text);
console.error(`${stopReason}, ${cost === null ? "price unknown" : `$${cost.toFixed(4)}`}`);
await agent.close();
