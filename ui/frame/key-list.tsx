import { Dialog } from "../components/dialog.tsx";
import { t } from "../core/i18n.ts";
import { shortcuts } from "../core/keys.ts";

/** Lists the keyboard shortcuts of the view. */
export function KeyList({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={t("keys")} onClose={onClose}>
      <table class="keys">
        <tbody>
          {shortcuts.value.map(({ keys, label }) => (
            <tr key={keys}>
              <th scope="row">
                {keys.split(" ").map((key, n) => (
                  <span key={`${n}${key}`}>
                    {n > 0 && ` ${t("keys.then")} `}
                    <kbd>{key}</kbd>
                  </span>
                ))}
              </th>
              <td>{t(label)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
