import { Agent, request } from "node:http";

/** Sends `requests` GETs of the paths in turns over 32 connections. @throws when an answer is not a 200 */
export async function load(port: number, paths: readonly string[], requests: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  let left = requests;
  const one = (path: string): Promise<void> =>
    new Promise((resolve, reject) => {
      request({ port, host: "127.0.0.1", path, agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`port ${port}: ${response.statusCode}`));
        response.resume();
        response.on("end", resolve);
      })
        .on("error", reject)
        .end();
    });
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left-- > 0) await one(paths[left % paths.length] ?? "/");
    }),
  );
  agent.destroy();
}
