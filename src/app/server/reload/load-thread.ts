import { parentPort } from "node:worker_threads";
import { loadConfiguration } from "../../../configuration/load.ts";
import type { LoadInput } from "./load-in-thread.ts";

/** The thread that loads configurations while the server runs. It has the variables of the server. */
parentPort?.on("message", (input: LoadInput) => {
  void loadConfiguration({ ...input, env: process.env }).then((loaded) => parentPort?.postMessage(loaded));
});
