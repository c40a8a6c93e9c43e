import { CODEX } from "./codex.ts";
import { OPENCODE } from "./opencode.ts";
import type { Peer } from "./peer.ts";
import { PI } from "./pi.ts";

export const PEERS: readonly Peer[] = [CODEX, PI, OPENCODE];
