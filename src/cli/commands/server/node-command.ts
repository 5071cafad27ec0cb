import { Command } from "commander";
import { sleep } from "../../../lib/time/sleep.ts";
import { type AnswerFlags, parseAnswer, print, type Received } from "../../client/answer.ts";
import { retryWhileBusy } from "../../client/retry-wait.ts";
import type { ServerClient } from "../../client/server-client.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { connect, serverCommand } from "../server-command.ts";

const LOOK_MS = 500;
/** A node that is not listed for this time has left. Otherwise it would have joined the next lead. */
const ABSENT_MS = 30_000;

interface DrainFlags extends AnswerFlags {
  readonly undo?: true;
  readonly wait: boolean;
}

/** `nuthatch node …`: begins or ends the drain of a node of a running cluster, or removes a lost node. */
export function nodeCommand(): Command {
  const drain = serverCommand(
    "drain",
    "takes a node out of the balancer: /readyz is 503, it gets no renders, and another node takes the lead",
  )
    .argument("<node>", "the name of the node, as nuthatch nodes lists it")
    .option("--undo", "ends the draining")
    .option("--no-wait", "do not wait until the node has no renders and does not lead")
    .addHelpText(
      "after",
      "\nThe node continues to serve until it is stopped, and is no longer drained after its next start.",
    )
    .action(drainNode);
  const remove = serverCommand("remove", "removes a lost node from the list: it is not expected back")
    .argument("<node>", "the name of the node, as nuthatch nodes lists it")
    .action(async (name: string, flags: AnswerFlags) => {
      await connect(flags).request("DELETE", `/api/v1/nodes/${encodeURIComponent(name)}`);
      print(flags.json === true ? "{}\n" : `${name} has been removed\n`);
    });
  return new Command("node").description("changes one node of a cluster").addCommand(drain).addCommand(remove);
}

async function drainNode(name: string, flags: DrainFlags): Promise<void> {
  const client = connect(flags);
  const method = flags.undo === true ? "DELETE" : "POST";
  let text = await client.request(method, `/api/v1/nodes/${encodeURIComponent(name)}/drain`);
  if (flags.undo !== true && flags.wait) text = await drained(client, name);
  print(flags.json === true ? `${text.trim()}\n` : `${name}: ${parseAnswer<Received<"Node">>(text).state}\n`);
}

/** Waits until the node has no renders and has joined a lead on another node. */
async function drained(client: ServerClient, name: string): Promise<string> {
  const list = () => client.request("GET", "/api/v1/nodes");
  const report = (why: string): void => void process.stderr.write(`${why}\n`);
  let listedMs = client.clock.monotonicNow();
  for (;;) {
    // The answer is 503 while no node leads.
    const { nodes }: Received<"Nodes"> = parseAnswer(await retryWhileBusy(client.clock, list, report));
    const node = nodes.find((one) => one.name === name);
    if (node !== undefined) listedMs = client.clock.monotonicNow();
    else if (client.clock.monotonicNow() - listedMs > ABSENT_MS)
      throw new CommandFailure(`the node ${name} has left the cluster`, EXIT.failure);
    if (node?.lead === false && node.work.renders === 0) return JSON.stringify(node);
    await sleep(client.clock, LOOK_MS);
  }
}
