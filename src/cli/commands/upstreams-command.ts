import type { Command } from "commander";
import { type AnswerFlags, parseAnswer, print, type Received } from "../client/answer.ts";
import type { ServerClient } from "../client/server-client.ts";
import { EXIT } from "../exit.ts";
import { factList, textTable, timeText } from "../output/text-table.ts";
import { connect, serverCommand } from "./server-command.ts";

interface UpstreamsFlags extends AnswerFlags {
  readonly probe?: boolean;
}

type Upstream = Received<"Upstream">;

/** Formats a line per upstream, with the last error of each upstream that is down. */
function showUpstreams({ upstreams }: Received<"Upstreams">): string {
  const rows = upstreams.map(({ id, origin, state, since, connections, waiting, latency, layers }) => [
    id,
    origin,
    state,
    timeText(since),
    `${connections.inUse} of ${connections.allowed}`,
    String(waiting.users + waiting.jobs),
    latency === null ? "" : `${latency.p50Ms} ms`,
    latency === null ? "" : `${latency.p95Ms} ms`,
    layers.length > 3 ? `${layers.slice(0, 3).join(", ")} and ${layers.length - 3} more` : layers.join(", "),
  ]);
  const head = ["id", "upstream", "state", "since", "connections", "waiting", "p50", "p95", "layers"];
  return `${textTable(head, rows)}${upstreams.map(trouble).join("")}`;
}

function trouble({ origin, state, lastError, pausedUntil }: Upstream): string {
  const error = state !== "down" || lastError === null ? undefined : `${lastError.message} (${timeText(lastError.at)})`;
  const pause =
    pausedUntil === null ? undefined : `jobs stop until ${timeText(pausedUntil)}, as the upstream has requested`;
  const facts = factList([
    ["last error", error],
    ["pause", pause],
  ]);
  return facts === "" ? "" : `\n${origin}\n${facts}`;
}

const showProbe = ({ ok, layer, ms, error, upstream }: Received<"UpstreamProbe">): string =>
  `${upstream.origin}: ${ok ? "answers" : `does not render: ${error?.message ?? ""}`} (a tile of ${layer}, ${ms} ms)\n`;

/** Requests a tile of each upstream, all at once. Returns whether all have rendered one. */
async function probe(client: ServerClient, ids: readonly string[], { json }: UpstreamsFlags): Promise<boolean> {
  const texts = await Promise.all(
    ids.map((id) => client.request("POST", `/api/v1/upstreams/${encodeURIComponent(id)}/probe`)),
  );
  const probes = texts.map((text) => parseAnswer<Received<"UpstreamProbe">>(text));
  print(
    json === true ? `{"probes":[${texts.map((text) => text.trim()).join(",")}]}\n` : probes.map(showProbe).join(""),
  );
  return probes.every(({ ok }) => ok);
}

/**
 * `nuthatch upstreams [UPSTREAM…] [--probe]`: shows the upstreams of a running server, or probes them now. The exit
 * code is 1 if an upstream is down or does not render.
 */
export function upstreamsCommand(): Command {
  return serverCommand("upstreams", "lists the upstreams of a running server: state, connections, latency, layers")
    .argument("[upstream...]", "ids of upstreams, as the list shows them; none: all")
    .option("--probe", "requests a tile from each upstream now, without storing it")
    .action(async (ids: readonly string[], flags: UpstreamsFlags) => {
      const client = connect(flags);
      const known: Received<"Upstreams"> =
        ids.length === 0
          ? parseAnswer(await client.request("GET", "/api/v1/upstreams"))
          : { upstreams: await Promise.all(ids.map((id) => one(client, id))) };
      const { upstreams } = known;
      let isWell = upstreams.every(({ state }) => state !== "down");
      if (flags.probe === true) {
        isWell = await probe(
          client,
          upstreams.map(({ id }) => id),
          flags,
        );
      } else print(flags.json === true ? `${JSON.stringify(known)}\n` : showUpstreams(known));
      if (!isWell) process.exitCode = EXIT.failure;
    });
}

const one = async (client: ServerClient, id: string): Promise<Upstream> =>
  parseAnswer(await client.request("GET", `/api/v1/upstreams/${encodeURIComponent(id)}`));
