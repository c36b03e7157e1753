import { z } from 'zod'
import { IpAllowlist } from '../../gates.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DatasetName, Deleted, Instant, ListQuery, listOf, Name, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

const DATA_KEY_STATUSES = ['active', 'expired'] as const

const Datasets = z
  .array(DatasetName, 'The datasets are a list of names, or null for every dataset.')
  .min(1, 'Name at least one dataset, or send null for every dataset.')
  .max(LIMITS.dataKeyDatasetsMax, `Name at most ${LIMITS.dataKeyDatasetsMax} datasets, or send null for every dataset.`)
  .nullable()
  .describe('The datasets that the key can read; null: all datasets in the project, including future ones.')

const Requests = z
  .int('must be a whole number')
  .min(1)
  .max(LIMITS.dataKeyRequestsMax)
  .describe(
    `The maximum number of requests in 10 seconds, 1 to ${LIMITS.dataKeyRequestsMax}. Each server process counts separately.`,
  )

export const DataKey = z.object({
  id: idOutput('dataKey'),
  name: z.string(),
  shown_prefix: z.string().describe('The first 12 characters of the key.'),
  datasets: z.array(z.string()).nullable(),
  requests_per_10_seconds: z.int(),
  ip_allowlist: z.array(z.string()),
  expires_at: Timestamp.nullable().describe('null: the key never expires.'),
  status: z.enum(DATA_KEY_STATUSES),
  last_used_at: Timestamp.nullable().describe('Updated at most once a minute.'),
  created_by: idOutput('user')
    .nullable()
    .describe('The person who created the key, or whose API key or agent created it.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('dataKey') })
const one = z.object({ data_key: DataKey })
const ExpiresAt = Instant.nullable().describe('RFC 3339, in the future; null: the key never expires.')

export const dataKeys = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'data-keys',
    summary: 'List Data API keys',
    description: 'The Data API keys of the project, newest first, without the keys themselves.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('data_keys', DataKey),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'data-keys',
    summary: 'Create a Data API key',
    description: 'The response contains the key once, in `key`. The key can only read stored records on /v1/data.',
    ...WRITE,
    status: 201,
    showsSecret: true,
    body: z.strictObject({
      name: Name,
      datasets: Datasets.default(null),
      requests_per_10_seconds: Requests.default(LIMITS.dataKeyRequestsDefault),
      ip_allowlist: IpAllowlist.default([]).describe('The addresses that can use the key; empty: any address.'),
      expires_at: ExpiresAt.default(null),
    }),
    output: one.extend({ key: z.string().describe('The key. It is shown only once.') }),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'data-keys/{id}',
    summary: 'Get a Data API key',
    description: 'One Data API key of the project, without the key itself.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'data-keys/{id}',
    summary: 'Change a Data API key',
    description: 'Updates only the fields that you send. The next request with the key follows the change.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      datasets: Datasets.optional(),
      requests_per_10_seconds: Requests.optional(),
      ip_allowlist: IpAllowlist.optional(),
      expires_at: ExpiresAt.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'data-keys/{id}',
    summary: 'Revoke a Data API key',
    description: 'Deletes the key. The next request with it gets 401.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
