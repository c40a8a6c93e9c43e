/** A scripted model in the place of a real one, and recordings of real ones: for tests without a key and a network. */

export { startRecording } from "./provider/scripted/recording.ts";
export { type Script, type ScriptTurn, scriptJsonSchema } from "./provider/scripted/script.ts";
export {
  createScriptedStream,
  findStart,
  parseScript,
  type Recording,
  readScript,
  type ScriptedOptions,
  type ScriptStart,
  scriptedModel,
} from "./provider/scripted.ts";
