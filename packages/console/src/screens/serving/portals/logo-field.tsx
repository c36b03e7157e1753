import { LIMITS } from '@postroad/contract'
import { useRef, useState, type ReactElement } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { textOrNull } from './draft.ts'

const TYPES = 'image/png,image/jpeg,image/webp,image/svg+xml'

type Props = {
  readonly label: string
  readonly logo: string | null
  readonly change: (logo: string | null) => void
  readonly hint?: string
}

/** A logo: a file that becomes a part of the settings, or the https URL of a picture. */
export function LogoField({ label, logo, change, hint }: Props): ReactElement {
  const [problem, setProblem] = useState<string | undefined>()
  const picker = useRef<HTMLInputElement>(null)
  const isFile = logo?.startsWith('data:') === true
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    const url = await dataUrlOf(file)
    const isTooLarge = url.length > LIMITS.portalLogoCharsMax
    setProblem(isTooLarge ? `The file is too large. Use a logo of at most ${KILOBYTES_MAX} kB.` : undefined)
    if (!isTooLarge) change(url)
  }
  return (
    <div className="mb-3.5">
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1 [&>div]:mb-0">
          <Field
            label={label}
            placeholder="https://example.com/logo.svg"
            value={isFile ? 'a file' : (logo ?? '')}
            readOnly={isFile}
            onChange={({ target }) => change(textOrNull(target.value.trim()))}
          />
        </div>
        <input
          ref={picker}
          type="file"
          accept={TYPES}
          hidden
          aria-label={`${label}, a file`}
          onChange={({ target }) => {
            void take(target.files?.[0])
            target.value = ''
          }}
        />
        <Button className="h-8" onClick={() => picker.current?.click()}>
          Choose a file
        </Button>
        {logo !== null && (
          <Button className="h-8" kind="quiet" onClick={() => change(null)}>
            Remove
          </Button>
        )}
      </div>
      {problem !== undefined && (
        <p role="alert" className="mt-1 text-fail">
          {problem}
        </p>
      )}
      {hint !== undefined && <p className="mt-1 text-data text-ink-3">{hint}</p>}
    </div>
  )
}

/** Base64 has four characters for three bytes. */
const KILOBYTES_MAX = Math.floor((LIMITS.portalLogoCharsMax * 3) / 4 / 1_000)

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('loadend', () =>
      typeof reader.result === 'string' ? resolve(reader.result) : reject(new Error('The file cannot be read.')),
    )
    reader.readAsDataURL(file)
  })
}
