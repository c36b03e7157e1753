import type { About } from '../../about.ts'
import type { platformSettings } from './platform-settings.ts'

export const about = {
  text: 'For operators: the settings of the installation.',
  bodies: { update: { support_contact: 'support@example.com', workspace_creation: 'operators' } },
} satisfies About<typeof platformSettings>
