import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import type { PageAt } from './read/queries.ts'

/** The scope of an export: the current settings of a workspace, and its events from before a time. */
export type Scope = {
  /** A context for this workspace only. */
  readonly ctx: Ctx
  readonly projectIds: readonly string[]
  readonly before: Date
}

/** The lines of a file, a page at a time. */
export type Lines = AsyncGenerator<readonly string[]>
export type FileLines = (scope: Scope) => Lines

type Page = { readonly limit: number; readonly cursor: string | undefined }

export async function* only(row: () => Promise<object>): Lines {
  yield [JSON.stringify(await row())]
}

export async function* listed<Answer extends { next_cursor: string | null }>(
  list: (page: Page) => Promise<Answer>,
  rowsOf: (answer: Answer) => readonly object[],
): Lines {
  for (let cursor: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page needs the cursor of the previous one
    const answer = await list({ limit: LIMITS.listLimitMax, cursor })
    yield rowsOf(answer).map((row) => JSON.stringify(row))
    if (answer.next_cursor === null) return
    cursor = answer.next_cursor
  }
}

export function inProjects(lines: (ctx: Ctx, scope: Scope) => Lines): FileLines {
  return async function* every(scope) {
    for (const projectId of scope.projectIds) yield* lines({ ...scope.ctx, projectId }, scope)
  }
}

export const inside =
  ({ projectId }: Ctx) =>
  <Row extends object>(row: Row) => ({ ...row, project_id: encodeId('project', projectId) })

/** A room whose list has these rows. */
type Listing<Member extends string> = {
  readonly list: (
    ctx: Ctx,
    page: Page,
  ) => Promise<{ readonly [Name in Member]: readonly object[] } & { readonly next_cursor: string | null }>
}

export function ofWorkspace<Member extends string>(room: Listing<Member>, member: Member): FileLines {
  return ({ ctx }) =>
    listed(
      (page) => room.list(ctx, page),
      (answer) => answer[member],
    )
}

export function ofProjects<Member extends string>(room: Listing<Member>, member: Member): FileLines {
  return inProjects((ctx) =>
    listed(
      (page) => room.list(ctx, page),
      (answer) => answer[member].map(inside(ctx)),
    ),
  )
}

/** Reads in the order of the keys, oldest first. */
export async function* paged<Row extends { id: string }>(
  read: (at: PageAt) => Promise<readonly Row[]>,
  { ctx, before }: Pick<Scope, 'ctx' | 'before'>,
): AsyncGenerator<readonly Row[]> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId, before: uuidv7Floor(before.getTime()) }
  for (let after = NO_ID; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page is read after the reader took the previous one
    const rows = await read({ ...at, after })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = last.id
  }
}

export const NO_ID = '00000000-0000-0000-0000-000000000000'
