import { z } from 'zod'
import { FileBytes } from '../../chunks.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Timestamp } from '../../list.ts'
import { ADMINS_READ, defineRoute, MANAGE } from '../../route.ts'

const { dataExportRetentionDays, dataExportsReadyMax } = LIMITS

export const DataExport = z.object({
  id: idOutput('dataExport'),
  state: z
    .enum(['pending', 'running', 'ready', 'failed', 'expired'])
    .describe(
      '`pending`: not started. `running`: being written. `ready`: can be downloaded until `expires_at`. `failed`: `error` gives the cause. `expired`: the file was deleted.',
    ),
  requested_by: idOutput('user').nullable().describe('The member who requested it; null: the operator.'),
  created_at: Timestamp.describe(
    'The time of the request. Events that were accepted before it are in the export; those that were accepted more than a second later are not.',
  ),
  finished_at: Timestamp.nullable(),
  expires_at: Timestamp.nullable(),
  progress: z.object({
    files_done: z.int(),
    files_total: z.int(),
    rows_done: z.int(),
    rows_total: z.int().nullable().describe('null: not counted yet.'),
    bytes_done: z.int().describe('Bytes of the zip written so far.'),
  }),
  file: z
    .object({
      bytes: z.int(),
      sha256: z.string().describe('SHA-256 of the whole file, in hexadecimal.'),
      etag: z.string().describe('For `If-Range`, to resume a download.'),
    })
    .nullable()
    .describe('null: there is no file yet, or it was deleted.'),
  error: z.string().nullable().describe('The cause of the failure and the remedy.'),
})

const one = z.object({ data_export: DataExport })
const at = z.object({ id: idInput('dataExport') })

export const dataExport = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'data-export',
    summary: 'List data exports',
    description: 'The exports of the workspace, newest first, with their progress.',
    ...ADMINS_READ,
    status: 200,
    query: ListQuery,
    output: listOf('data_exports', DataExport),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'data-export',
    summary: 'Export everything',
    description:
      'Starts an export to one zip of NDJSON files: the workspace, projects and their settings without secrets, versions of endpoints, submissions with their bodies, records, ' +
      'deliveries with their attempts, replays, rejections, members, open invites, SSO requests, keys by their prefix, events and deliveries by month, and the audit log. `manifest.json` lists the parts that are left out, with the reasons. Get the export by its id until it is `ready`, then download it. ' +
      `Only one export can run at a time (409 \`export_running\`). At most ${dataExportsReadyMax} are stored (409 \`export_limit_reached\`), each for ${dataExportRetentionDays} days. ` +
      'A closed workspace can be exported until it is deleted, and an owner can export a suspended one.',
    ...MANAGE,
    ownersWhileSuspended: true,
    whileClosed: 'allowed',
    status: 201,
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'data-export/{id}',
    summary: 'Get a data export',
    description: 'One export, with its progress.',
    ...ADMINS_READ,
    status: 200,
    params: at,
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'workspace',
    path: 'data-export/{id}',
    summary: 'Delete a data export',
    description: 'Stops the export if it is being written, and deletes its file.',
    ...MANAGE,
    ownersWhileSuspended: true,
    whileClosed: 'allowed',
    status: 200,
    params: at,
    output: Deleted,
  }),
  download: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'data-export/{id}/download',
    summary: 'Download a data export',
    description:
      'The zip file. To resume a download, from any node, send `Range: bytes=N-` and `If-Range` with the ETag: 206 with the rest, or 200 with the whole file if the ETag is another one; ' +
      '416 for a range outside the file. 409 `invalid_state` while it is not ready, 410 `export_over` after it has expired.',
    ...ADMINS_READ,
    status: 200,
    download: { type: 'application/zip', name: 'postroad-export.zip', stored: true },
    params: at,
    output: FileBytes,
  }),
} as const
