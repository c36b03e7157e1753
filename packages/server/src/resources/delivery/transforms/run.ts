import type { Ctx } from '../../../context.ts'
import type { DeliveryBody, ReceivedRequest } from '../../../domain/delivery/delivery-body.ts'
import type { Event } from '../../../domain/delivery/delivery-request.ts'
import { programInput, usesRequest } from '../../../domain/delivery/program-event.ts'
import { programRequest, type ProgramRequest } from '../../../domain/delivery/program-request.ts'
import { refuse } from '../../../domain/refusal.ts'
import { PROGRAM_RUN_MS, runProgram } from '../../../tasks/run-program.ts'
import { findTransform } from './queries.ts'

type Asked = {
  readonly id: string
  readonly event: Event
  readonly form: 'envelope' | 'data'
  readonly forwarded: DeliveryBody['forwarded']
  readonly received: ReceivedRequest | undefined
}

/** The request that the current version of a transform makes of an event, or the reason why it makes none. */
export async function requestOfTransform(
  ctx: Ctx,
  { id, event, form, forwarded, received }: Asked,
): Promise<ProgramRequest | { readonly error: string }> {
  const found = await findTransform(ctx.db, { ...ctx, id })
  if (found === undefined) throw refuse('not_found')
  const { code, language, version } = found
  const request = usesRequest(code) ? received : undefined
  const [ran] = await ctx.heavy.run(runProgram, {
    workspaceId: ctx.workspaceId,
    work: Infinity,
    runMs: PROGRAM_RUN_MS,
    input: {
      source: { key: `${id}:${version}`, code, language },
      inputs: [programInput({ ...event, headers: forwarded, request }, form)],
    },
  })
  if (ran === undefined) throw new Error('a task ran no event')
  if (!ran.ok) return { error: `The transform failed: ${ran.fault.message}` }
  if (ran.result === null) return { error: 'The transform returns null, so no request is sent.' }
  return programRequest(ran.result)
}
