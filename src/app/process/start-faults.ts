import { join } from "node:path";
import { codeOf, errorMessage } from "../../lib/error-code.ts";
import { account, fileFault, pathOf } from "../../lib/file/file-fault.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { deadline } from "../../lib/time/deadline.ts";

const PROBE_MS = 3_000;

/** Codes of SQLite for a file that is not a database, or whose pages contradict each other. */
const DAMAGED = /^SQLITE_(?:NOTADB|CORRUPT)/;

/**
 * Returns why the state database cannot be used, the data that a start without it would lose, and the remedy. Undefined
 * if the error has another cause.
 */
export function stateDatabaseFault(error: unknown, dataDir: string): string | undefined {
  const file = join(dataDir, "state.db");
  const remedy = `put a copy of it in its place, or move ${file} and ${file}-wal away and start again: the tiles stay and are counted again, but the history, unfinished jobs, schedules, truncations to undo and a quota set over HTTP are lost`;
  if (DAMAGED.test(codeOf(error))) return `the state database ${file} is damaged (${errorMessage(error)}): ${remedy}`;
  if (pathOf(error) !== file) return undefined;
  const fault = fileFault(error);
  return codeOf(error) === "EISDIR"
    ? `the state database ${file} cannot be used: ${fault}: ${remedy}`
    : `the state database ${file} cannot be used: ${fault}; give the account ${account()} the permission to read and write it, or name another directory (--data-dir, NUTHATCH_DATA_DIR or dataDir)`;
}

/** Returns why the server cannot use its data directory, and how to configure another one. */
export function dataDirectoryFault(error: unknown, dataDir: string): string {
  const path = pathOf(error);
  if (path === undefined) return errorMessage(error);
  return `the data directory cannot be used: ${path}: ${fileFault(error)}; --data-dir, NUTHATCH_DATA_DIR or dataDir names another than ${dataDir}`;
}

/** Returns why the server cannot listen on an address, and how to configure another one. */
export async function listenFault(error: unknown, host: string, port: number, clock: Clock): Promise<string> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const another = "--host, NUTHATCH_HOST or server.host names another";
  switch (codeOf(error)) {
    case "EADDRINUSE": {
      const who = (await isNuthatch(host, port, clock))
        ? "a Nuthatch server already answers there"
        : "another program listens there";
      return `${address} is in use, ${who}; --port, NUTHATCH_PORT or server.port names another port (0 picks a free one)`;
    }
    case "EADDRNOTAVAIL":
      return `this machine has no address ${host}; ${another} (127.0.0.1: this machine alone, 0.0.0.0: all addresses)`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name ${host} has no address; ${another}`;
    case "EACCES":
      return `the account ${account()} may not listen on port ${port}; --port, NUTHATCH_PORT or server.port names another, such as 8080`;
    default:
      return errorMessage(error);
  }
}

/** Returns whether a server on this machine answers a health check as Nuthatch does. */
async function isNuthatch(host: string, port: number, clock: Clock): Promise<boolean> {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const name = reached.includes(":") ? `[${reached}]` : reached;
  try {
    const answer = await fetch(`http://${name}:${port}/livez`, { signal: deadline(clock, PROBE_MS) });
    return answer.status === 200 && (await answer.text()) === "ok";
  } catch {
    // No HTTP server answers in time.
    return false;
  }
}
