import { decodeId, encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../context.ts'
import { uuidv7Floor } from '../../platform/ids.ts'
import { apiKeys } from '../api-keys/index.ts'
import { auditLog } from '../audit/index.ts'
import { datasets } from '../datasets/index.ts'
import { presentAttempt, presentDelivery } from '../deliveries/index.ts'
import { destinations } from '../destinations/index.ts'
import { ingestKeys } from '../ingest-keys/index.ts'
import { members } from '../members/index.ts'
import { projects } from '../projects/index.ts'
import { recordViews } from '../record-views/index.ts'
import { rejections } from '../rejections/index.ts'
import { rules } from '../rules/index.ts'
import { presentSubmission } from '../submissions/index.ts'
import { webhooks } from '../webhooks/index.ts'
import { readAttempts, readDeliveries, readRecords, readSubmissions, type PageAt } from './read/queries.ts'

/** What is exported of a workspace: its settings as they are when they are read, and what came before a moment. */
export type Scope = {
  /** For this workspace alone. */
  readonly ctx: Ctx
  readonly projectIds: readonly string[]
  readonly before: Date
}

/** The lines of a file, a page at a time. */
type Lines = AsyncGenerator<readonly string[]>
type Source = { readonly name: string; readonly lines: (scope: Scope) => Lines }

/**
 * The files of an export, in order: what is named comes before what names it. Rows are as the API shows them, with the project
 * that they are in. What lets somebody in, or signs, is not among them: no URL of an endpoint, no secret, no key, no value of a header.
 */
export const SOURCES: readonly Source[] = [
  { name: 'projects', lines: ({ ctx }) => listed((page) => projects.list(ctx, page), (answer) => answer.projects) },
  { name: 'members', lines: ({ ctx }) => listed((page) => members.list(ctx, page), (answer) => answer.members) },
  { name: 'api_keys', lines: ({ ctx }) => listed((page) => apiKeys.list(ctx, page), (answer) => answer.api_keys) },
  { name: 'datasets', lines: inProjects((ctx) => listed((page) => datasets.list(ctx, page), (answer) => answer.datasets.map(inside(ctx)))) },
  { name: 'webhooks', lines: inProjects((ctx) => listed((page) => webhooks.list(ctx, page), (answer) => answer.webhooks.map(withoutUrl).map(inside(ctx)))) },
  { name: 'record_views', lines: inProjects(viewLines) },
  { name: 'rules', lines: inProjects((ctx) => listed((page) => rules.list(ctx, page), (answer) => answer.rules.map(inside(ctx)))) },
  { name: 'destinations', lines: inProjects((ctx) => listed((page) => destinations.list(ctx, page), (answer) => answer.destinations.map(withoutHeaderValues).map(inside(ctx)))) },
  { name: 'ingest_keys', lines: inProjects((ctx) => listed((page) => ingestKeys.list(ctx, page), (answer) => answer.ingest_keys.map(inside(ctx)))) },
  { name: 'submissions', lines: inProjects(submissionLines) },
  { name: 'records', lines: inProjects(recordLines) },
  { name: 'deliveries', lines: inProjects(deliveryLines) },
  { name: 'rejections', lines: inProjects((ctx, { before }) => listed((page) => rejections.list(ctx, { ...page, to: before }), (answer) => answer.rejections.map(inside(ctx)))) },
  { name: 'audit', lines: ({ ctx, before }) => listed((page) => auditLog.list(ctx, { ...page, to: before }), (answer) => answer.audit) },
]

type Page = { readonly limit: number; readonly cursor: string | undefined }

async function* listed<Answer extends { next_cursor: string | null }>(list: (page: Page) => Promise<Answer>, rowsOf: (answer: Answer) => readonly object[]): Lines {
  for (let cursor: string | undefined; ; ) {
    // oxlint-disable-next-line no-await-in-loop -- a page is asked for with the cursor of the one before
    const answer = await list({ limit: LIMITS.listLimitMax, cursor })
    yield rowsOf(answer).map((row) => JSON.stringify(row))
    if (answer.next_cursor === null) return
    cursor = answer.next_cursor
  }
}

function inProjects(lines: (ctx: Ctx, scope: Scope) => Lines): Source['lines'] {
  return async function* every(scope) {
    for (const projectId of scope.projectIds) yield* lines({ ...scope.ctx, projectId }, scope)
  }
}

const inside = ({ projectId }: Ctx) => <Row extends object>(row: Row) => ({ ...row, project_id: encodeId('project', projectId) })

/** The URL of an endpoint is its credential. */
function withoutUrl<Row extends { webhook_slug: string; public_path: string; public_url: string; previous_public_url: string | null }>(row: Row) {
  const { webhook_slug: _slug, public_path: _path, public_url: _url, previous_public_url: _previous, ...rest } = row
  return rest
}

/** The value of a header may be a password. */
function withoutHeaderValues<Row extends { headers: Readonly<Record<string, string>> }>({ headers, ...rest }: Row) {
  return { ...rest, header_names: Object.keys(headers) }
}

async function* viewLines(ctx: Ctx): Lines {
  for (let cursor: string | undefined; ; ) {
    // oxlint-disable-next-line no-await-in-loop -- a page is asked for with the cursor of the one before
    const page = await webhooks.list(ctx, { limit: LIMITS.listLimitMax, cursor })
    for (const id of page.webhooks.flatMap((webhook) => decodeId('webhook', webhook.id) ?? [])) yield* listed((views) => recordViews.list(ctx, { ...views, id }), (answer) => answer.views.map(inside(ctx)))
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}

/** Along the keys, oldest first. */
async function* paged<Row extends { id: string }>(read: (at: PageAt) => Promise<readonly Row[]>, { ctx, before }: Pick<Scope, 'ctx' | 'before'>): AsyncGenerator<readonly Row[]> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId, before: uuidv7Floor(before.getTime()) }
  for (let after = NO_ID; ; ) {
    // oxlint-disable-next-line no-await-in-loop -- a page is asked for once the one before was taken
    const rows = await read({ ...at, after })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = last.id
  }
}

const NO_ID = '00000000-0000-0000-0000-000000000000'

async function* submissionLines(ctx: Ctx, { before }: Scope): Lines {
  for await (const rows of paged((at) => readSubmissions(ctx.db, at), { ctx, before })) yield rows.map((row) => JSON.stringify(inside(ctx)(presentSubmission(row))))
}

/** The payload letter by letter, but for the ends of lines, which a JSON text has between its members only. */
async function* recordLines(ctx: Ctx, { before }: Scope): Lines {
  for await (const rows of paged((at) => readRecords(ctx.db, at), { ctx, before })) {
    yield rows.map(({ id, submission_id, dataset, received_at, data }) => {
      const row = { id: encodeId('record', id), dataset, submission_id: encodeId('submission', submission_id), received_at: received_at.toISOString(), project_id: encodeId('project', ctx.projectId) }
      return `${JSON.stringify(row).slice(0, -1)},"data":${data.replaceAll(/[\r\n]+/g, ' ')}}`
    })
  }
}

async function* deliveryLines(ctx: Ctx, { before }: Scope): Lines {
  for await (const rows of paged((at) => readDeliveries(ctx.db, at), { ctx, before })) {
    const attempts = Map.groupBy(await readAttempts(ctx.db, { ...ctx, deliveryIds: rows.map(({ id }) => id) }), ({ delivery_id }) => delivery_id)
    yield rows.map((row) => {
      const tries = (attempts.get(row.id) ?? []).map((attempt) => presentAttempt(attempt, row.id))
      return JSON.stringify({ ...inside(ctx)(presentDelivery(row)), attempts: tries })
    })
  }
}
