import { SourcePreset } from '@postroad/contract'
import { presets as files } from '@postroad/verify/presets'
import type { Room } from '../../verbs.ts'

const presets = Object.values(files)
  .map((preset) => SourcePreset.parse(preset))
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))

export const sourcePresets: Room<'sourcePresets'> = {
  list: () => Promise.resolve({ source_presets: presets }),
}
