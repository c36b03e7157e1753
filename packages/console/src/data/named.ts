import { destinationLight, endpointLight, type Light } from '@postroad/contract/lights'
import { useMemo } from 'react'
import { useAllAgents, useAllWorkflows } from './automation-lists.ts'
import { useAllIngestKeys, useAllPortals, useAllRules } from './lists.ts'
import { useDestinations, useWebhooks } from './names.ts'
import { useAllDatasets } from './serving-lists.ts'
import { useAllOrigins } from './source-lists.ts'

const NONE: readonly never[] = []

export type Named = {
  readonly screen: string
  readonly kind: string
  readonly id: string
  readonly name: string
  /** The word of its status light; absent while the thing is on. */
  readonly light?: string
}

/** Everything in the project that has a name, with its screen. */
export function useNamed(): readonly Named[] {
  const webhooks = useWebhooks().all
  const destinations = useDestinations().all
  const { data: keys = NONE } = useAllIngestKeys()
  const { data: rules = NONE } = useAllRules()
  const { data: portals = NONE } = useAllPortals()
  const { data: workflows = NONE } = useAllWorkflows()
  const { data: agents = NONE } = useAllAgents()
  const { data: origins = NONE } = useAllOrigins()
  const { data: datasets = NONE } = useAllDatasets()
  return useMemo(() => {
    const all: readonly (readonly [
      Pick<Named, 'screen' | 'kind'>,
      readonly { readonly id: string; readonly name: string; readonly light?: Light }[],
    ])[] = [
      [{ screen: 'endpoints', kind: 'endpoint' }, webhooks.map((row) => ({ ...row, light: endpointLight(row) }))],
      [{ screen: 'ingest-keys', kind: 'ingest key' }, keys],
      [{ screen: 'rules', kind: 'rule' }, rules],
      [
        { screen: 'destinations', kind: 'destination' },
        destinations.map((row) => ({ ...row, light: destinationLight(row) })),
      ],
      [{ screen: 'portals', kind: 'portal' }, portals],
      [{ screen: 'workflows', kind: 'workflow' }, workflows],
      [{ screen: 'agents', kind: 'agent' }, agents],
      [{ screen: 'sources', kind: 'source' }, origins],
      [{ screen: 'datasets', kind: 'dataset' }, datasets],
    ]
    return all.flatMap(([where, of]) =>
      of.map(({ id, name, light }) =>
        light === undefined || light.tone === 'ok' ? { ...where, id, name } : { ...where, id, name, light: light.word },
      ),
    )
  }, [webhooks, destinations, keys, rules, portals, workflows, agents, origins, datasets])
}
