import type { About } from '../../about.ts'
import { type destinationPresets, DestinationPreset } from './destination-presets.ts'

export const about = {
  text: 'Settings for well-known receivers.',
  schemas: { DestinationPreset },
} satisfies About<typeof destinationPresets>
