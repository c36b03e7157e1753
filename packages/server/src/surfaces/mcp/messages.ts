import { LIMITS } from '@postroad/contract'
import { parseJson } from '../../domain/json/json-text.ts'
import { refuse } from '../../domain/refusal.ts'
import type { RouteCall } from '../route-calls.ts'
import { TOOLS, verbOf } from './tools/index.ts'

export type Messages = {
  /** Each message counts as a request. */
  readonly count: number
  /** The route of the tool that the only message calls. */
  readonly tool: Pick<RouteCall, 'room' | 'verb'> | undefined
}

/** The messages in a body, as far as the checks before the library need them. The library answers a body that is not JSON. */
export function messagesIn({ body }: { readonly body: unknown }): Messages {
  const one: Messages = { count: 1, tool: undefined }
  if (typeof body !== 'string') return one
  const read = parseJson(body, LIMITS.adminJsonDepthMax)
  if (!read.ok) {
    if (read.error.includes('nested')) throw refuse('invalid_request', read.error)
    return one
  }
  if (!Array.isArray(read.value)) return { ...one, tool: toolOf(read.value) }
  if (read.value.length > LIMITS.mcpMessagesMax)
    throw refuse('invalid_request', `A batch has at most ${LIMITS.mcpMessagesMax} messages. Send fewer at once.`)
  return { ...one, count: Math.max(1, read.value.length) }
}

function toolOf(message: unknown): Messages['tool'] {
  const named = memberOf(message, 'method') === 'tools/call' ? memberOf(memberOf(message, 'params'), 'name') : undefined
  const tool = TOOLS.find(({ name }) => name === named)
  return tool === undefined ? undefined : verbOf(tool)
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
