import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Tests that cross threads run the built program: it is built first, once. */
export function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL("../bin/prepare.mjs", import.meta.url))], { stdio: "inherit" });
}
