import { z } from 'zod'
import { IpAllowlist } from '../gates.ts'
import { idInput, idOutput } from '../ids.ts'
import { Deleted, ListQuery, listOf, Name, Timestamp } from '../list.ts'
import { defineRoute, READ, WRITE } from '../route.ts'

export const IngestKey = z.object({
  id: idOutput('ingestKey'),
  name: z.string(),
  shown_prefix: z.string().describe('The first 12 characters of the key.'),
  ip_allowlist: IpAllowlist,
  created_at: Timestamp,
})

export const ingestKeys = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ingest-keys',
    summary: 'List ingest keys',
    description: 'The ingest keys of the project, newest first; never the keys themselves.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('ingest_keys', IngestKey),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ingest-keys',
    summary: 'Create an ingest key',
    description: 'The key is returned once, in `key`. Use it in POST /v1/ingest/{key}, /v1/ingest/{key}/{dataset} and /v1/webhooks/{key}/{slug}.',
    ...WRITE,
    status: 201,
    showsSecret: true,
    body: z.strictObject({ name: Name, ip_allowlist: IpAllowlist.default([]) }),
    output: z.object({ ingest_key: IngestKey, key: z.string() }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'ingest-keys/{id}',
    summary: 'Revoke an ingest key',
    description: 'Requests with this key answer 404 from now on.',
    ...WRITE,
    status: 200,
    params: z.object({ id: idInput('ingestKey') }),
    output: Deleted,
  }),
} as const
