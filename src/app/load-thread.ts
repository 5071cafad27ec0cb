import { parentPort, workerData } from "node:worker_threads";
import { loadConfiguration } from "../config/load.ts";
import type { LoadInput } from "./load-in-thread.ts";

/** The thread that loads a configuration for a reload. It has the variables of the server. */
const input: LoadInput = workerData;
parentPort?.postMessage(await loadConfiguration({ ...input, env: process.env }));
