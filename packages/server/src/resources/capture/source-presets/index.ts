import { readdirSync, readFileSync } from 'node:fs'
import { SourcePreset } from '@postroad/contract'
import type { Room } from '../../verbs.ts'

/** One file for each preset. */
const FOLDER = new URL('../../../../../verify/presets/', import.meta.url)

const presets = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => SourcePreset.parse(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))))
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))

export const sourcePresets: Room<'sourcePresets'> = {
  list: () => Promise.resolve({ source_presets: presets }),
}
