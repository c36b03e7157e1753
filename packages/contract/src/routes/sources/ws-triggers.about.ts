import type { About } from '../../about.ts'
import { type wsTriggers, WsTrigger } from './ws-triggers.ts'

export const about = {
  text: 'Triggers that listen to WebSockets.',
  refusals: { create: ['name_taken', 'source_limit_reached'], update: ['name_taken'] },
  schemas: { WsTrigger },
  bodies: {
    create: {
      name: 'Trades',
      url: 'wss://stream.example.com/v1',
      dataset: 'trades',
      subscribe: ['{"op":"subscribe","channel":"trades"}'],
    },
    update: { enabled: false },
  },
  members: { WsTrigger: { name: 'Trades', url: 'wss://stream.example.com/v1', dataset: 'trades', state: 'connected' } },
} satisfies About<typeof wsTriggers>
