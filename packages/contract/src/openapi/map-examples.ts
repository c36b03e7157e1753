import { exampleId } from './example-id.ts'

/** The values of members of the map, by the name of their schema. */
export const MAP_MEMBERS: Readonly<Record<string, unknown>> = {
  'MapNode.id': exampleId('destination'),
  'MapNode.kind': 'destination',
  'MapNode.name': 'ERP',
  'MapNode.events': 120,
  'MapNode.delivered': 117,
  'MapNode.failed': 3,
  'MapNode.rejected': 0,
  'MapNode.held': null,
  'MapNode.detail': 'http',
  'MapEnd.kind': 'dataset',
  'MapEnd.id': 'orders',
  'MapOmitted.kind': 'destination',
  'MapOmitted.nodes': 800,
}
