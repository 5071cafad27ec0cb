import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = "/usr/bin/tinyproxy";
export const hasTinyproxy = existsSync(PROGRAM);

export interface Tinyproxy {
  readonly url: string;
  /** Returns the log of requests so far. */
  log(): string;
  close(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Starts Debian's tinyproxy, which forwards requests and opens tunnels to any port. */
export async function startTinyproxy(): Promise<Tinyproxy> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-tinyproxy-"));
  const port = await freePort();
  const log = join(directory, "log");
  writeFileSync(log, "");
  writeFileSync(
    join(directory, "conf"),
    `Port ${port}\nListen 127.0.0.1\nAllow 127.0.0.1\nLogLevel Connect\nLogFile "${log}"\nMaxClients 50\n`,
  );
  const child = spawn(PROGRAM, ["-d", "-c", join(directory, "conf")], { stdio: "ignore" });
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  // It does not report when it listens.
  while (
    child.exitCode === null &&
    !(await fetch(url)
      .then(() => true)
      .catch(() => false))
  );
  if (child.exitCode !== null) throw new Error(`tinyproxy ended with ${child.exitCode}: ${readFileSync(log, "utf8")}`);
  return {
    url,
    log: () => readFileSync(log, "utf8"),
    close: async () => {
      child.kill("SIGKILL");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
