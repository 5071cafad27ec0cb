import type { Doc } from "../core/server/api.ts";
import { t } from "../core/text/i18n.ts";
import { Chip, type Tone } from "./parts.tsx";

const TONES: Readonly<Record<Doc<"Upstream">["state"], Tone>> = { up: "good", down: "bad", unknown: "plain" };

/** The health of an upstream as a word. */
export const UpstreamState = ({ state }: { readonly state: Doc<"Upstream">["state"] }) => (
  <Chip tone={TONES[state]}>{t(`upstreams.state.${state}`)}</Chip>
);
