import type { About } from '../../about.ts'
import { type destinationPresets, DestinationPreset } from './destination-presets.ts'

export const about = {
  text: 'Settings for well-known receivers.',
  schemas: { DestinationPreset },
  members: {
    DestinationPreset: {
      id: 'slack',
      name: 'Slack',
      description: 'A message in a channel.',
      setup: 'Create an incoming webhook in Slack, and copy its URL.',
      url: 'https://hooks.slack.com/services/{your path}',
      alert_template: { text: '{{ data.title }}' },
    },
  },
} satisfies About<typeof destinationPresets>
