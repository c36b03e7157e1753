import type { About } from '../../about.ts'
import type { sourcePresets } from './source-presets.ts'

export const about = {
  text: 'Settings for well-known providers.',
} satisfies About<typeof sourcePresets>
