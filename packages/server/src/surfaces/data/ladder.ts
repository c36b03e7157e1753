import { LIMITS, SECRET_PREFIXES } from '@postroad/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import { compileIpAllowlist } from '../../domain/ip-range.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { limitsOf } from '../../domain/workspace/plan.ts'
import { identifyDataKey, noteDataKeyUse, type DataReader } from '../../resources/serving/data-keys/index.ts'
import { findWorkspace } from '../../resources/workspace/workspaces/index.ts'
import { admitWork } from '../admit-work.ts'
import type { RequestRates } from '../request-rates.ts'

export type DataDoor = {
  readonly deps: Deps
  readonly rates: RequestRates
  readonly ip: string | undefined
  readonly reply: FastifyReply
}

/**
 * The checks of the Data API, in their order: the key, its rate, its addresses, and the workspace. Nothing is stored for a refused
 * request.
 */
export async function admitReader(door: DataDoor, request: FastifyRequest): Promise<DataReader> {
  const { deps } = door
  const reader = await identifyDataKey(deps, keyOf(request))
  checkRate(door, reader)
  if (compileIpAllowlist(reader.key.ip_allowlist)?.(door.ip) === false)
    throw refuse(
      'ip_not_allowed',
      'This Data API key cannot be used from this address. Add the address to the allowlist of the key.',
    )
  await checkWorkspace(door, reader)
  await noteDataKeyUse(deps, reader)
  return reader
}

function keyOf({ headers }: FastifyRequest): string {
  const [scheme, key] = (headers.authorization ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || key?.startsWith(SECRET_PREFIXES.dataKey) !== true)
    throw refuse('data_key_required')
  return key
}

function checkRate({ deps, rates }: DataDoor, { key }: DataReader): void {
  if (rates.take(`data_key:${key.id}`, deps.clock.now(), key.requests_per_10_seconds)) return
  throw new Refusal('rate_limited', { fields: { retry_after: LIMITS.adminRequestsWindowMs / 1_000 } })
}

async function checkWorkspace({ deps, reply }: DataDoor, { workspaceId }: DataReader): Promise<void> {
  const { database, plans, work } = deps
  const workspace = await findWorkspace(database, workspaceId)
  if (workspace === undefined) throw refuse('data_key_required')
  if (workspace.suspended_at !== null) throw refuse('workspace_suspended')
  if (workspace.closed_at !== null) throw refuse('workspace_closed')
  admitWork(work, { workspaceId, limits: limitsOf(plans, workspace.plan), reply })
}

/** A key reads only its datasets. */
export function checkDataset({ key }: DataReader, name: string): void {
  if (key.datasets === null || key.datasets.includes(name)) return
  throw refuse(
    'dataset_not_allowed',
    `This Data API key cannot read "${name.slice(0, 70)}". Add the dataset to the key, or use another key.`,
  )
}
