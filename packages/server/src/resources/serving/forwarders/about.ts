import type { About } from '../../about.ts'

export const about = {
  tables: {
    forwarders: { exported: 'forwarders', sealed: ['headers'], unconfigured: { kind: 'forwarder' } },
    forwarder_cursors: { leftOut: 'How far each forwarder has sent, which GET forwarders shows.' },
  },
} as const satisfies About
