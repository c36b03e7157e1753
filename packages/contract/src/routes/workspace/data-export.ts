import { z } from 'zod'
import { FileBytes } from '../../chunks.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Timestamp } from '../../list.ts'
import { defineRoute, MANAGE } from '../../route.ts'

const { dataExportKeptDays, dataExportsReadyMax } = LIMITS

export const DataExport = z.object({
  id: idOutput('dataExport'),
  state: z
    .enum(['pending', 'running', 'ready', 'failed', 'expired'])
    .describe(
      '`pending`: nobody has begun. `running`: being written. `ready`: can be downloaded until `expires_at`. `failed`: `error` says why. `expired`: its file is gone.',
    ),
  requested_by: idOutput('user').nullable().describe('The member who asked for it; null: the operator.'),
  created_at: Timestamp.describe(
    'When it was asked for. Events that were accepted before are in it; those that came more than a second later are not.',
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
      sha256: z.string().describe('Of the whole file, in hexadecimal.'),
      etag: z.string().describe('For `If-Range`, when a download is gone on with.'),
    })
    .nullable()
    .describe('null: there is none, or none any more.'),
  error: z.string().nullable().describe('Why it failed, and what to do.'),
})

const one = z.object({ data_export: DataExport })
const at = z.object({ id: idInput('dataExport') })
const ADMINS_READ = { ...MANAGE, whileSuspended: 'read' } as const

export const dataExport = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'data-export',
    summary: 'List data exports',
    description: 'The exports of the workspace, newest first, with how far they are.',
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
      'Begins to write one zip of NDJSON files: the workspace, projects and their settings without secrets, versions of endpoints, submissions with their bodies, records, ' +
      'deliveries with their attempts, replays, rejections, members, open invites, keys by their prefix, events and deliveries by month, and the audit log; `manifest.json` says what is left out and why. Ask for it again by its id until it is `ready`, then download it. ' +
      `One is written at a time (409 \`export_running\`); ${dataExportsReadyMax} are stored (409 \`export_limit_reached\`), each for ${dataExportKeptDays} days. ` +
      'A closed workspace can be exported until it is deleted.',
    ...MANAGE,
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
    description: 'Stops it if it is being written, and removes its file.',
    ...MANAGE,
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
      'The zip. A download that broke off is gone on with by `Range: bytes=N-` and `If-Range` with the ETag, from whichever node: 206 with the rest, or 200 with all of it when the ETag is another; ' +
      '416 for a range outside of the file. 409 `invalid_state` while it is not ready, 410 `export_over` once it has expired.',
    ...ADMINS_READ,
    status: 200,
    download: { type: 'application/zip', name: 'postroad-export.zip', stored: true },
    params: at,
    output: FileBytes,
  }),
} as const
