import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../core/api.ts";
import { t } from "../core/i18n.ts";
import { ProblemBox } from "./parts.tsx";

interface LazyProps<P> {
  /** Loads the component. Must be the same function each time, so that the component is loaded once. */
  readonly load: () => Promise<ComponentType<P>>;
  readonly props: P;
}

/** A part of a view whose files are loaded when it is first shown. */
export function Lazy<P extends object>({ load, props }: LazyProps<P>) {
  const [loaded, setLoaded] = useState<{ readonly Part: ComponentType<P> }>();
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => {
    load().then((Part) => setLoaded({ Part }), setFailure);
  }, [load]);
  if (failure !== undefined) return <ProblemBox problem={asProblem(failure)} />;
  if (loaded === undefined) return <p class="soft loading">{t("loading")}</p>;
  return <loaded.Part {...props} />;
}
