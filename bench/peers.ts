import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pause } from "./figures.ts";

/** A server in a process of its own that answers every path of the bench with one body. */
export interface Peer {
  readonly port: number;
  readonly pid: number;
  close(): void;
}

/**
 * An instant upstream in a process of its own; `pictures`: the side of what cannot be compressed in each tile, or pictures
 * that compress as maps do. `apart`: it gives way to whoever wants its processor (SCHED_IDLE), as one on another machine
 * takes none from the server.
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
    /** Each answer takes so long from now on. */
    delay: async (ms) => void (await fetch(new URL(`/delay?ms=${ms}`, url))),
    close: () => void child.kill(),
  };
}

/** A bare `node:http` server of a body and headers. */
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

/** nginx with one worker and the body as a file at the path; undefined where nginx is not installed. */
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
  // One process, no master: its CPU seconds are nginx's.
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

/** The path of a program, undefined where it is not installed. */
export const installed = (program: string): string | undefined =>
  [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
    .map((directory) => join(directory, program))
    .find((candidate) => existsSync(candidate));

/** Neither nginx nor Apache can be told to take any port. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
