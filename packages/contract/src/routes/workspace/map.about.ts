import type { About } from '../../about.ts'
import { type map, MapEnd, MapNode, MapOmitted } from './map.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Who sends to whom in a project, and how many events.',
  schemas: { MapEnd, MapNode, MapOmitted },
  members: {
    MapNode: {
      id: exampleId('destination'),
      kind: 'destination',
      name: 'ERP',
      events: 120,
      delivered: 117,
      failed: 3,
      rejected: 0,
      held: null,
      detail: 'http',
    },
    MapEnd: { kind: 'dataset', id: 'orders' },
    MapOmitted: { kind: 'destination', nodes: 800 },
  },
} satisfies About<typeof map>
