import { encodeId, type TransformTest } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { programInput, usesRequest, type ProgramEvent } from '../../../domain/delivery/program-event.ts'
import { stringifyJson } from '../../../domain/json/json-text.ts'
import { RawJson } from '../../../domain/json/raw-json.ts'
import { refuse } from '../../../domain/refusal.ts'
import { PROGRAM_RUN_MS } from '../../../tasks/run-program.ts'
import { tryProgram } from '../../../tasks/try-program.ts'
import { findPayload, findReceived } from '../../capture/payloads/index.ts'
import { writtenAnswer, type Room } from '../../verbs.ts'
import { findTransform } from './queries.ts'

type Asked = Parameters<Room<'transforms'>['test']>[1]

/** Runs code on one event as a destination would. Nothing is stored or sent. */
export const testTransform: Room<'transforms'>['test'] = async (ctx, asked) => {
  const source = await sourceOf(ctx, asked)
  const event = await eventOf(ctx, asked, source.code)
  const tried = await ctx.heavy.run(tryProgram, {
    workspaceId: ctx.workspaceId,
    work: Infinity,
    runMs: PROGRAM_RUN_MS,
    input: {
      source: { key: null, ...source },
      input: programInput(event, asked.body),
    },
  })
  return writtenAnswer<TransformTest>({
    ...tried,
    result: new RawJson(tried.result),
    before: new RawJson(tried.before),
    changes: new RawJson(tried.changes),
  })
}

async function sourceOf(ctx: Ctx, { transform_id: id, code, language }: Asked) {
  const saved = id === undefined ? undefined : await findTransform(ctx.db, { ...ctx, id })
  if (id !== undefined && saved === undefined) throw refuse('not_found')
  const source = { code: code ?? saved?.code, language: language ?? saved?.language ?? 'js' }
  if (source.code === undefined)
    throw refuse(
      'invalid_request',
      'code is missing; send the code to test, or the transform_id of a stored transform.',
    )
  return { ...source, code: source.code }
}

// oxlint-disable-next-line max-params -- the context, the request, and the code
async function eventOf(ctx: Ctx, { record_id: id, payload }: Asked, code: string): Promise<ProgramEvent> {
  if ((payload === undefined) === (id === undefined))
    throw refuse('invalid_request', 'payload: send either a payload or the record_id of a stored record.')
  if (id === undefined) {
    const at = { id: encodeId('record', ctx.uuid()), dataset: 'test', received_at: new Date(ctx.clock.now()) }
    return { ...at, data: stringifyJson(payload), headers: {}, request: undefined }
  }
  const row = await findPayload(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  const received = usesRequest(code)
    ? await findReceived(ctx.db, { ...ctx, recordId: id, needs: 'request' })
    : undefined
  return { ...row, id: encodeId('record', id), headers: {}, request: received }
}
