import { readdirSync, readFileSync } from 'node:fs'
import { DestinationPreset } from '@postroad/contract'
import type { Room } from '../../verbs.ts'

/** One file for each preset. */
const FOLDER = new URL('../../../../destination-presets/', import.meta.url)

/** The presets: a custom receiver last, the others by their name. */
export const presets = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => DestinationPreset.parse(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))))
  .toSorted((a, b) => Number(a.id === 'generic') - Number(b.id === 'generic') || a.name.localeCompare(b.name))

export const destinationPresets: Room<'destinationPresets'> = {
  list: () => Promise.resolve({ destination_presets: presets }),
}
