import type { About } from '../../about.ts'
import { type forwarders, Forwarder, ForwarderProgress } from './forwarders.ts'
import { ForwarderPreset } from '../../forwarder-presets.ts'

export const about = {
  text: 'Receivers of the logs and traces of a project.',
  refusals: { create: ['name_taken', 'forwarder_limit_reached'], update: ['name_taken'] },
  schemas: { Forwarder, ForwarderPreset, ForwarderProgress },
} satisfies About<typeof forwarders>
