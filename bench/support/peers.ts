import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pause } from "./figures.ts";

/** A server in a separate process that answers every path of the bench with one body. */
export interface Peer {
  readonly port: number;
  readonly pid: number;
  close(): void;
}

/**
 * Starts an instant upstream in a separate process. `pictures`: side of the incompressible square in each tile, or
 * `map` for pictures that compress as maps do. `apart`: the upstream runs with SCHED_IDLE, so that it takes no CPU time
 * from the server, like an upstream on another machine.
 */
export async function upstreamProcess(
  pictures: number | "map" = 0,
  { apart = false } = {},
): Promise<{ url: string; delay(ms: number): Promise<void>; close(): void }> {
  const upstream = fileURLToPath(new URL("./upstream.ts", import.meta.url));
  const command = [process.execPath, "--import", "tsx", upstream, String(pictures)];
  const [program = "", ...args] = apart ? ["chrt", "--idle", "0", ...command] : command;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const url = await new Promise<string>((resolve) =>
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim())),
  );
  return {
    url,
    /** Sets the delay of each further answer. */
    delay: async (ms) => void (await fetch(new URL(`/delay?ms=${ms}`, url))),
    close: () => void child.kill(),
  };
}

/** Starts a bare `node:http` server that answers with a body and headers. */
export async function bareServer(headers: Record<string, string>, body: Buffer): Promise<Peer> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-bench-"));
  const file = join(directory, "body");
  writeFileSync(file, body);
  const code = `const b=require('fs').readFileSync(${JSON.stringify(file)});const h=${JSON.stringify(headers)};const s=require('http').createServer((q,r)=>{r.writeHead(200,h);r.end(b)});s.listen(0,'127.0.0.1',()=>console.log(s.address().port))`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<number>((resolve) =>
    child.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString()))),
  );
  rmSync(directory, { recursive: true });
  return { port, pid: child.pid ?? 0, close: () => void child.kill() };
}

/** Starts nginx with one worker and the body as a file at the path. Returns undefined if nginx is not installed. */
export async function nginx(path: string, body: Buffer): Promise<Peer | undefined> {
  const program = installed("nginx");
  if (program === undefined) return undefined;
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-bench-"));
  const file = join(directory, "root", decodeURIComponent(path));
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, body);
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (t) => `${t}_temp_path ${directory}/${t};`,
  );
  // Without a master process, the CPU seconds of this one process are all of nginx's.
  writeFileSync(
    join(directory, "nginx.conf"),
    `daemon off; master_process off; worker_processes 1; pid ${directory}/pid; error_log stderr crit;
events { worker_connections 256; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; types { image/png png; }
  ${temporary.join(" ")}
  server { listen 127.0.0.1:${port}; root ${directory}/root; }
}
`,
  );
  const child = spawn(program, ["-p", directory, "-c", join(directory, "nginx.conf")], { stdio: "inherit" });
  const url = `http://127.0.0.1:${port}${path}`;
  for (let tries = 0; (await fetch(url).catch(() => undefined))?.status !== 200; tries++) {
    if (tries > 100) throw new Error(`nginx does not answer ${url}`);
    await pause(20);
  }
  return {
    port,
    pid: child.pid ?? 0,
    close: () => {
      child.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Returns the path of a program, or undefined if it is not installed. */
export const installed = (program: string): string | undefined =>
  [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
    .map((directory) => join(directory, program))
    .find((candidate) => existsSync(candidate));

/** Returns a free port, because neither nginx nor Apache can choose one. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
