import { parentPort } from "node:worker_threads";
import { loadConfiguration } from "../../configuration/load.ts";
import type { LoadInput } from "./load-in-thread.ts";

/** Loads configurations in a thread while the server runs. The thread has the server's environment variables. */
parentPort?.on("message", (input: LoadInput) => {
  void loadConfiguration({ ...input, env: process.env }).then((loaded) => parentPort?.postMessage(loaded));
});
