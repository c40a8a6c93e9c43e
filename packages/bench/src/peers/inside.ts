import { Stage } from "../stage/stage.ts";
import { measurePeers } from "./compare-peers.ts";
import { PEERS } from "./peers.ts";

// Runs without any network except loopback: `inside.ts DIRECTORY RUNS NAME…` prints the figures as JSON.
// Without RUNS, it uses the default number.

const [installed = "", runs = "0", ...names] = process.argv.slice(2);
using stage = new Stage({ runs: Number(runs) || undefined });
const peers = PEERS.filter(({ name }) => names.includes(name));
console.log(JSON.stringify(await measurePeers(stage, peers, installed)));
