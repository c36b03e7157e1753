import { LIMITS } from '@postroad/contract'
import { useId, type ReactElement } from 'react'
import { Choice } from '../../../parts/choice.tsx'
import { accentOf } from '../../../ui/accent.ts'
import { Button } from '../../../ui/button.tsx'
import { Check, Field } from '../../../ui/field.tsx'
import { textOrNull, type Looks } from './draft.ts'
import { LogoField } from './logo-field.tsx'

const MODES = [
  { id: 'auto', label: 'Customer’s setting' },
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const
const FONTS = [
  { id: 'system', label: 'System' },
  { id: 'sans', label: 'Sans' },
  { id: 'serif', label: 'Serif' },
] as const
const RADIUS_MAX = 12
const NO_ACCENT = '#171f25'

type Props = {
  readonly draft: Looks
  readonly change: (part: Partial<Looks>) => void
  readonly disabled: boolean
  readonly portalName: string
}

/** The looks of a portal: name, logos, color, theme, font, corners and links. */
export function LooksFields({ draft, change, disabled, portalName }: Props): ReactElement {
  const { name, logo, logo_dark, mode, font, radius, support_url, return_url, powered_by } = draft
  const radiusId = useId()
  return (
    <fieldset disabled={disabled}>
      <Field
        label="Name"
        maxLength={LIMITS.nameCharsMax}
        placeholder={portalName}
        value={name ?? ''}
        onChange={({ target }) => change({ name: textOrNull(target.value) })}
        hint="The name of your company or product."
      />
      <AccentField accent={draft.accent} change={(accent) => change({ accent })} />
      <LogoField label="Logo" logo={logo} change={(next) => change({ logo: next })} />
      <LogoField
        label="Dark theme logo"
        logo={logo_dark}
        change={(next) => change({ logo_dark: next })}
        hint="Optional. Leave empty to use the same logo."
      />
      <Choice label="Theme" of={MODES} at={mode} go={(id) => change({ mode: id })} disabled={disabled} />
      <Choice label="Font" of={FONTS} at={font} go={(id) => change({ font: id })} disabled={disabled} />
      <div className="mb-3.5">
        <label htmlFor={radiusId} className="mb-1 block font-control">
          Corners <span className="text-ink-3">{radius === 0 ? 'square' : `${radius} px`}</span>
        </label>
        <input
          id={radiusId}
          type="range"
          min={0}
          max={RADIUS_MAX}
          value={radius}
          onChange={({ target }) => change({ radius: Number(target.value) })}
          className="h-6 w-full accent-(--accent)"
        />
      </div>
      <Field
        label="Help link"
        placeholder="https://example.com/help"
        hint="A URL, or a mailto: link."
        value={support_url ?? ''}
        onChange={({ target }) => change({ support_url: textOrNull(target.value) })}
      />
      <Field
        label="Product link"
        type="url"
        placeholder="https://app.example.com/webhooks"
        value={return_url ?? ''}
        onChange={({ target }) => change({ return_url: textOrNull(target.value) })}
        hint="Customers with an expired link go there to open the page again."
      />
      <Check
        checked={powered_by}
        onChange={({ target }) => change({ powered_by: target.checked })}
        label="Show “by Postroad” in the page footer"
      />
    </fieldset>
  )
}

/** The color of the brand, and the colors that the page makes of it. */
function AccentField({
  accent,
  change,
}: {
  readonly accent: string | null
  readonly change: (accent: string | null) => void
}): ReactElement {
  const id = useId()
  const whole = accent !== null && /^#[0-9a-f]{6}$/i.test(accent) ? accent.toLowerCase() : undefined
  return (
    <div className="mb-3.5">
      <label htmlFor={id} className="mb-1 block font-control">
        Accent
      </label>
      <div className="flex items-center gap-2">
        <input
          type="color"
          aria-label="Choose accent color"
          value={whole ?? NO_ACCENT}
          onChange={({ target }) => change(target.value)}
          className="h-8 w-11 flex-none rounded-field border border-line-2 bg-surface p-1"
        />
        <input
          id={id}
          spellCheck={false}
          placeholder="none"
          value={accent ?? ''}
          onChange={({ target }) => change(textOrNull(target.value.trim()))}
          aria-describedby={`${id}-hint`}
          className="mono h-8 min-w-0 flex-1 rounded-field border border-line-2 bg-surface px-2.5 text-data"
        />
        {accent !== null && (
          <Button kind="quiet" onClick={() => change(null)}>
            Remove
          </Button>
        )}
      </div>
      <div id={`${id}-hint`} className="mt-1 text-data text-ink-3">
        {whole === undefined ? (
          'Buttons use this color, and links use a readable shade of it.'
        ) : (
          <ul aria-label="Readable shades">
            <Shade of={whole} theme="light" />
            <Shade of={whole} theme="dark" />
          </ul>
        )}
      </div>
    </div>
  )
}

function Shade({ of, theme }: { readonly of: string; readonly theme: 'light' | 'dark' }): ReactElement {
  const { text } = accentOf(of, theme)
  return (
    <li className="flex items-center gap-2">
      <i
        aria-hidden
        className="size-3.5 flex-none rounded-chip border border-line-2"
        style={{ backgroundColor: text }}
      />
      <span>
        {text === of ? (
          `Readable on ${theme} pages as it is.`
        ) : (
          <>
            On {theme} pages, links use <span className="mono">{text}</span> for contrast.
          </>
        )}
      </span>
    </li>
  )
}
