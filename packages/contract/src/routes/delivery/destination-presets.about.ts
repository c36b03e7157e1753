import type { About } from '../../about.ts'
import type { destinationPresets } from './destination-presets.ts'

export const about = {
  text: 'Settings for well-known receivers.',
} satisfies About<typeof destinationPresets>
