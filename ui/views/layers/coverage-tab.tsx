import { useEffect, useState } from "preact/hooks";
import { ProblemBox } from "../../components/parts.tsx";
import { asProblem } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";
import type { TabProps } from "./layer-page.tsx";

type CoverageModule = typeof import("../coverage/coverage.tsx");

/** The coverage of the layer. Its files are loaded when the tab is shown first. */
export function CoverageTab({ layer }: TabProps) {
  const [loaded, setLoaded] = useState<CoverageModule>();
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => {
    import("../coverage/coverage.tsx").then(setLoaded, setFailure);
  }, []);
  if (failure !== undefined) return <ProblemBox problem={asProblem(failure)} />;
  if (loaded === undefined) return <p class="soft">{t("loading")}</p>;
  return <loaded.Coverage layer={layer} />;
}
