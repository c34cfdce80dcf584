import { CopyIcon } from './icons.tsx'

interface Props {
  /** As `https://edge.example/alice.example/app`. */
  readonly https: string
  /** at-uri of the account's repository. */
  readonly at: string
}

/** What `git clone` is given. */
export function CloneBox({ https, at }: Props) {
  return (
    <div class="clone">
      <CopyField id="clone-https" label="Clone" value={https} />
      <CopyField id="clone-at" label="In the Atmosphere" value={at} />
    </div>
  )
}

/** A line to be copied: by hand, or where scripts run by a button. */
export function CopyField({
  id,
  label,
  value,
}: {
  readonly id: string
  readonly label: string
  readonly value: string
}) {
  return (
    <div class="copy">
      <label for={id}>{label}</label>
      <div>
        <input id={id} type="text" value={value} readonly spellcheck="false" />
        <button type="button" class="quiet" hidden data-copy={id} aria-label={`Copy: ${label}`}>
          <CopyIcon />
        </button>
      </div>
    </div>
  )
}
