import type { Texts } from "../../core/i18n.ts";
import type { coverage as english } from "../en/coverage.ts";

export const coverage: Texts<typeof english> = {};
