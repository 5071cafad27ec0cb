import { parentPort, workerData } from "node:worker_threads";
import { checkText } from "../../configuration/load.ts";
import { CHECKED_FILE } from "./configuration-checks.ts";

/** The thread that checks the text of one configuration: a large text takes seconds, in which tiles are served. */
const text: Uint8Array = workerData;
void checkText(Buffer.from(text), CHECKED_FILE).then((checked) => parentPort?.postMessage(checked));
