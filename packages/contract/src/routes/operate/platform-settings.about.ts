import type { About } from '../../about.ts'
import type { platformSettings } from './platform-settings.ts'

export const about = {
  text: 'For operators: the settings of the installation.',
} satisfies About<typeof platformSettings>
