import { agentLoop, type Tool } from "@diligent/core";
import { createScriptedStream, parseScript, scriptedModel } from "@diligent/core/testing";
import { z } from "zod";

const parameters = z.object({ sides: z.int().min(2).describe("The number of sides of the die.") });

const rollDie: Tool<typeof parameters> = {
  name: "roll_die",
  description: "Rolls a die and returns the number.",
  parameters,
  // The tool changes nothing and needs no approval: its calls run in parallel.
  readOnly: true,
  approval: () => undefined,
  async execute({ sides }, { signal }) {
    signal.throwIfAborted();
    // An error is returned to the model, which can then try something else.
    if (sides > 100) throw new Error(`There is no die with ${sides} sides. Use one with up to 100.`);
    return { output: String(1 + Math.floor(Math.random() * sides)) };
  },
};

// A script in place of a model: no key and no network, for testing a tool.
const script = parseScript(
  JSON.stringify({
    version: 1,
    turns: [{ toolCalls: [{ name: "roll_die", input: { sides: 6 } }] }, { text: "There it is." }],
  }),
  "example.json",
);

const run = agentLoop([{ role: "user", content: "Roll a die.", timestamp: Date.now() }], {
  model: scriptedModel("example.json", script),
  streamFunction: createScriptedStream(script),
  systemPrompt: "You play a game.",
  tools: [rollDie],
});
for await (const event of run) if (event.type === "tool_end") console.log(event.toolName, event.output);
