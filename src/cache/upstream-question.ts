import type { Layer } from "../layer/layer.ts";
import { currentTrace } from "../lib/http/trace-context.ts";
import type { UserRenders } from "../render/user-renders.ts";
import type { Question, UpstreamDocument } from "../source/source.ts";
import { failureOf } from "./tile-failure.ts";
import type { Requester, TileFailure } from "./tile-reader.ts";

export interface UpstreamQuestion {
  readonly layer: Layer;
  readonly request: Question;
}

export type UpstreamOutcome =
  | { readonly kind: "info"; readonly info: UpstreamDocument }
  | { readonly kind: "failure"; readonly failure: TileFailure };

/**
 * Sends a question, which requests something other than tiles, to the upstream, with the limits of any user's request.
 * The answer is not stored.
 */
export async function queryUpstream(
  renders: Pick<UserRenders, "queryUpstream">,
  { layer, request }: UpstreamQuestion,
  { client, gone }: Requester,
): Promise<UpstreamOutcome> {
  const trace = currentTrace();
  const answer = await renders.queryUpstream(
    layer,
    trace === undefined ? request : { ...request, trace },
    client,
    gone,
  );
  return answer.kind === "info" ? answer : { kind: "failure", failure: failureOf(answer, request.kind) };
}
