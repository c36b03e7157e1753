import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { SourcePreset } from '@postroad/contract'
import type { Room } from '../../verbs.ts'

/** One file for each preset. */
const FOLDER = new URL('../../../../../verify/presets/', import.meta.url)

const presets = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => SourcePreset.parse({ ...readJson(file), sample: sampleIn(`proofs/${file}`) }))
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))

function readJson(file: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))
}

/** The event of the request that proves the preset. One that is not JSON or a form tests a signature alone. */
function sampleIn(file: string): object | null {
  if (!existsSync(new URL(file, FOLDER))) return null
  const { stored, content_type = 'application/json', body } = readJson(file)
  return stored === false ? null : { content_type, body }
}

export const sourcePresets: Room<'sourcePresets'> = {
  list: () => Promise.resolve({ source_presets: presets }),
}
