/**
 * Models, the providers that serve them, and the building blocks of a custom provider. A vendor's SDK is loaded with
 * its first request.
 */
export { computeCost } from "./agent/cost.ts";
export { EventStream } from "./event-stream.ts";
export { openRequestLog, type RequestLogFile } from "./infrastructure/fs/state-files.ts";
export { SecretRedactor, type SecretValue } from "./infrastructure/text/secret-redactor.ts";
export { createAnthropicStream, preloadAnthropic } from "./provider/anthropic.ts";
export { createCompatibleStream } from "./provider/compatible.ts";
export { ProviderError } from "./provider/errors.ts";
export { IDLE_TIMEOUT_MS, LOCAL_IDLE_TIMEOUT_MS, withIdleWatchdog } from "./provider/idle-watchdog.ts";
export { createModelCatalog } from "./provider/models/catalog.ts";
export {
  type CatalogSettings,
  DEFAULT_MODEL,
  findKnownModel,
  inferProvider,
  KNOWN_MODELS,
  type ModelCatalog,
  type ModelFigures,
  ModelSettingError,
  resolveModel,
} from "./provider/models.ts";
export { classifyOpenAIError } from "./provider/openai/client.ts";
export { createOpenAIStream, preloadOpenAI } from "./provider/openai.ts";
export { withRedaction } from "./provider/redacted-stream.ts";
export { type RequestLogEntry, withRequestLog } from "./provider/request-log.ts";
export { withRetry } from "./provider/retry.ts";
export { createProviderStream } from "./provider/types.ts";
export { addUsage, EMPTY_USAGE, isRefusal, unknownStopReason } from "./types.ts";
