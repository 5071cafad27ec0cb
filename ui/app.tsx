import { useEffect, useErrorBoundary, useLayoutEffect, useState } from "preact/hooks";
import { Empty, ProblemBox } from "./components/parts.tsx";
import { Toasts } from "./components/toast.tsx";
import { asProblem } from "./core/api.ts";
import { listenToEvents } from "./core/events.ts";
import { t } from "./core/i18n.ts";
import { segments } from "./core/router.ts";
import { readSession, session } from "./core/session.ts";
import { Frame } from "./frame/frame.tsx";
import { SignIn } from "./frame/sign-in.tsx";
import { routes, type View } from "./routes.ts";

/** The whole console: the sign-in, or the frame with the view of the address. */
export function App() {
  const account = session.value;
  const { kind } = account;
  const isIn = kind === "user" || kind === "open";
  useEffect(() => {
    return isIn ? listenToEvents() : undefined;
  }, [isIn]);
  return (
    <>
      {isIn ? (
        <Frame>
          <CurrentView />
        </Frame>
      ) : account.kind === "refused" ? (
        <main>
          <h1>Nuthatch</h1>
          <ProblemBox problem={asProblem(new Error(account.message))} retry={() => void readSession()} />
        </main>
      ) : (
        <SignIn />
      )}
      <Toasts />
    </>
  );
}

function CurrentView() {
  const [name = "", ...rest] = segments.value;
  const route = routes.find((one) => one.name === name);
  if (route === undefined) return <Empty>{t("notFound")}</Empty>;
  return <LazyView key={name} load={route.load} segments={rest} />;
}

/** Shows a view when its files have arrived. An error of the view leaves the rest of the page as it is. */
function LazyView({
  load,
  segments: rest,
}: {
  readonly load: () => Promise<View>;
  readonly segments: readonly string[];
}) {
  const [loaded, setLoaded] = useState<View>();
  const [failure, setFailure] = useState<unknown>();
  const [fault, reset] = useErrorBoundary((error: unknown) => window.reportError(error));
  useEffect(() => {
    load().then(setLoaded, setFailure);
  }, [load]);
  // After a navigation the reader of a screen reader begins at the title. Before the view is painted: later it would take
  // the focus from a field in which the reader already types.
  useLayoutEffect(() => {
    if (loaded !== undefined) document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [loaded, rest.join("/")]);
  const problem = fault ?? failure;
  if (problem !== undefined)
    return (
      <>
        <p>{t("fault")}</p>
        <ProblemBox
          problem={asProblem(problem)}
          retry={() => (fault === undefined ? window.location.reload() : reset())}
        />
      </>
    );
  if (loaded === undefined) return <p class="soft loading">{t("loading")}</p>;
  return <loaded.View segments={rest} />;
}
