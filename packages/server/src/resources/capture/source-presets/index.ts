import { existsSync, readFileSync } from 'node:fs'
import { SourcePreset } from '@postroad/contract'
import { presets as files } from '@postroad/verify/presets'
import type { Room } from '../../verbs.ts'

/** A signed request of each provider, by the id of its preset. */
const PROOFS = new URL('../../../../../verify/presets/proofs/', import.meta.url)

const presets = Object.values(files)
  .map((preset) => SourcePreset.parse({ ...preset, sample: sampleIn(new URL(`${preset.id}.json`, PROOFS)) }))
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))

/** The event of the request that proves the preset. If its body is neither JSON nor a form, the request proves only the signature. */
function sampleIn(file: URL): object | null {
  if (!existsSync(file)) return null
  const { stored, content_type = 'application/json', body } = JSON.parse(readFileSync(file, 'utf8'))
  return stored === false ? null : { content_type, body }
}

export const sourcePresets: Room<'sourcePresets'> = {
  list: () => Promise.resolve({ source_presets: presets }),
}
