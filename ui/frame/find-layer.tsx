import { useSignal } from "@preact/signals";
import { Dialog } from "../components/dialogs/dialog.tsx";
import { Link } from "../components/link.tsx";
import { Loading } from "../components/parts.tsx";
import { navigate, pathOf } from "../core/page/router.ts";
import { queryOf } from "../core/server/api.ts";
import { useDocument } from "../core/server/resource.ts";
import { t } from "../core/text/i18n.ts";

const MOST = 12;

/** Finds a layer by a part of its name or title. Enter opens the first one. */
export function FindLayer({ onClose }: { readonly onClose: () => void }) {
  const text = useSignal("");
  const found = useDocument("LayerSummaries", `layers${queryOf({ fields: "summary", limit: MOST, q: text.value })}`);
  return (
    <Dialog title={t("find")} onClose={onClose}>
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          const [first] = found.data?.layers ?? [];
          if (first === undefined) return;
          onClose();
          navigate(pathOf("layers", first.name));
        }}
      >
        <label for="find-layer">{t("find.text")}</label>
        <input
          id="find-layer"
          type="search"
          autocomplete="off"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </form>
      <Loading of={found}>
        {({ layers, total }) => (
          <>
            <p class="soft" role="status">
              {t("find.count", { count: total })}
            </p>
            <ul class="found">
              {layers.map(({ name, title }) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the link inside takes the keys, and its click comes up here
                <li key={name} onClick={onClose}>
                  <Link to={pathOf("layers", name)}>{name}</Link> <small>{title === name ? "" : title}</small>
                </li>
              ))}
            </ul>
          </>
        )}
      </Loading>
    </Dialog>
  );
}
