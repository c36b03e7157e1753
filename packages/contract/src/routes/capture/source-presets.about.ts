import type { About } from '../../about.ts'
import { type sourcePresets, SourcePreset } from './source-presets.ts'

export const about = {
  text: 'Settings for well-known providers.',
  schemas: { SourcePreset },
} satisfies About<typeof sourcePresets>
