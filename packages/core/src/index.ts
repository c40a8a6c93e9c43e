export * from "./config/index.ts";
export * from "./interactive.ts";
export * from "./knowledge/index.ts";
export { createAnthropicStream } from "./provider/anthropic.ts";
export {
  type CatalogueSettings,
  createModelCatalogue,
  type ModelFigures,
} from "./provider/model-catalogue.ts";
export { createOpenAIStream } from "./provider/openai.ts";
export { createScriptedStream, parseScript, readScript, scriptedModel } from "./provider/scripted.ts";
export { type Script, type ScriptTurn, scriptJsonSchema } from "./provider/scripted-schema.ts";
export * from "./run.ts";
export * from "./sessions.ts";
