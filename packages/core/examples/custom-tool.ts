import { agentLoop, createScriptedStream, parseScript, scriptedModel, type Tool } from "@diligent/core";
import { z } from "zod";

const parameters = z.object({ sides: z.int().min(2).describe("How many sides the die has.") });

const rollDie: Tool<typeof parameters> = {
  name: "roll_die",
  description: "Rolls a die and tells what came up.",
  parameters,
  // It changes nothing and asks for nothing: calls of it run side by side, unasked.
  readOnly: true,
  approval: () => undefined,
  async execute({ sides }, { signal }) {
    signal.throwIfAborted();
    // What a tool throws is told to the model, which can then do it another way.
    if (sides > 100) throw new Error(`There is no die of ${sides} sides. Take one of up to 100.`);
    return { output: String(1 + Math.floor(Math.random() * sides)) };
  },
};

// A script in the place of a model: no key and no network, for trying a tool.
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
