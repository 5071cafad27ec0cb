import type { Texts } from "../../core/i18n.ts";
import type { truncations as english } from "../en/truncations.ts";

export const truncations: Texts<typeof english> = {};
