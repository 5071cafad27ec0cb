import { parentPort, workerData } from "node:worker_threads";
import { checkText } from "../../configuration/load.ts";
import { CHECKED_FILE } from "./configuration-checks.ts";

/** Checks the text of one configuration in a thread: a large text takes seconds, during which tiles must be served. */
const text: Uint8Array = workerData;
void checkText(Buffer.from(text), CHECKED_FILE).then((checked) => parentPort?.postMessage(checked));
