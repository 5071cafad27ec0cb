import { fileURLToPath } from "node:url";

/** The path of the built program, as its users start it. */
export const PROGRAM = fileURLToPath(new URL("../../../bin/nuthatch.mjs", import.meta.url));
