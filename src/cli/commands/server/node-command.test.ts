import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../../../test/support/server/run-program.ts";
import { startOrigin } from "../../../../test/support/upstream/origin.ts";

const row = (lead: boolean, renders: number) => ({ name: "a", lead, state: "draining", work: { renders } });

test("node drain waits while no node leads, and while the drained node has not joined the next lead", async () => {
  const lists: readonly (object | undefined)[] = [
    { nodes: [row(true, 0)] },
    undefined,
    { nodes: [] },
    { nodes: [row(false, 1)] },
    { nodes: [row(false, 0)] },
  ];
  let listed = 0;
  const { origin, close } = await startOrigin(({ method }, response) => {
    const answer = method === "POST" ? row(true, 0) : lists[listed++];
    response.writeHead(answer === undefined ? 503 : 200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(answer ?? { detail: "this node has no lead" }));
  });
  onTestFinished(close);
  const { code, stdout, stderr } = await runProgram(["node", "drain", "a"], { env: { NUTHATCH_URL: origin } });
  expect([code, stdout, listed]).toEqual([0, "a: draining\n", lists.length]);
  expect(stderr).toContain("this node has no lead; waiting for the server");
});
