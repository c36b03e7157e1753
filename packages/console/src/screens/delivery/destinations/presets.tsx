import type { DestinationPreset } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { RefusedLine } from '../../../ui/states.tsx'
import { KIND_PRESETS, type KindPreset } from './kinds.ts'

/** A receiver to choose. It has a config if it is not reached by a webhook. */
export type Preset = DestinationPreset & Partial<Pick<KindPreset, 'config' | 'maxInFlight'>>

const NONE: readonly never[] = []
/** A custom receiver: the choice that is there even if presets cannot be read. */
const OWN: DestinationPreset = {
  id: 'generic',
  name: 'Webhook receiver',
  description: 'A signed JSON envelope. Every Standard Webhooks library can verify it.',
  setup: '',
  docs_url: null,
  url: 'https://{your host}/{path}',
  secret: null,
  settings: { auth: { kind: 'none' }, headers: {}, payload_template: null },
  alert_template: null,
}

export function usePresets() {
  return useAsk(['destinationPresets'], (client, signal) => client.destinationPresets.list(undefined, { signal }))
}

/** The receivers to choose from: a custom one first, then the common ones. */
export function PresetChoice({ go }: { readonly go: (preset: Preset) => void }): ReactElement {
  const asked = usePresets()
  const known = asked.data?.destination_presets ?? NONE
  const presets = [known.find(({ id }) => id === OWN.id) ?? OWN, ...known.filter(({ id }) => id !== OWN.id)]
  return (
    <>
      <Choices label="Presets" presets={presets} go={go} />
      <h3 className="mb-2 font-control">Queues, streams and databases</h3>
      <Choices label="Kinds" presets={KIND_PRESETS} go={go} />
      <RefusedLine error={asked.error} />
    </>
  )
}

type Choosing = {
  readonly label: string
  readonly presets: readonly Preset[]
  readonly go: (preset: Preset) => void
}

function Choices({ label, presets, go }: Choosing): ReactElement {
  return (
    <ul aria-label={label} className="mb-3.5 grid grid-cols-2 gap-2 max-md:grid-cols-1">
      {presets.map((preset, index) => (
        <li key={preset.id}>
          <button
            type="button"
            data-first={(index === 0 && label === 'Presets') || undefined}
            onClick={() => go(preset)}
            className="flex h-full w-full flex-col rounded-field border border-line-2 bg-surface px-3.5 py-2.5 text-left hover:bg-sunken"
          >
            <b className="font-strong">{preset.name}</b>
            <span className="text-ink-3">{preset.description}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
