import type { Layer } from "../layer/layer.ts";
import type { FeatureInfo, FeatureInfoRequest } from "../source/source.ts";
import type { UserDraws } from "./draws.ts";
import { failureOf } from "./tile-failure.ts";
import type { TileFailure } from "./tile-reader.ts";

export interface FeatureInfoQuery {
  readonly layer: Layer;
  readonly request: FeatureInfoRequest;
}

export type FeatureInfoOutcome =
  | { readonly kind: "info"; readonly info: FeatureInfo }
  | { readonly kind: "failure"; readonly failure: TileFailure };

/** Asks the upstream what lies under a pixel, as any user's request and never kept. */
export async function askFeatureInfo(
  draws: Pick<UserDraws, "featureInfo">,
  { layer, request }: FeatureInfoQuery,
): Promise<FeatureInfoOutcome> {
  const answer = await draws.featureInfo(layer, request);
  return answer.kind === "info" ? answer : { kind: "failure", failure: failureOf(answer) };
}
