import type { FastifyReply } from 'fastify'
import { Refusal } from '../domain/refusal.ts'
import { costOfRequest, type WorkLimit, type WorkMeter } from '../platform/work-meter.ts'

type Asking = {
  readonly workspaceId: string
  readonly limits: WorkLimit
  readonly reply: FastifyReply
}

/** A request is admitted once, even if its stream is checked again or it carries several calls. */
const admitted = new WeakSet<object>()

/**
 * Refuses a request of a workspace that has used up its work: 429 `work_limited` with `retry_after` in seconds (decisions §9). An
 * admitted request is charged when its response has ended, by the bytes of its body and its response. Its tasks in threads are charged
 * there.
 */
export function admitWork(work: WorkMeter, { workspaceId, limits, reply }: Asking): void {
  const { raw, request } = reply
  if (admitted.has(raw)) return
  const waitMs = work.waitMs(workspaceId, limits)
  if (waitMs > 0)
    throw new Refusal('work_limited', { text: USED_UP, fields: { retry_after: Math.ceil(waitMs / 1_000) } })
  admitted.add(raw)
  const { socket } = request.raw
  const before = socket.bytesWritten
  const received = Number(request.headers['content-length'] ?? 0)
  const charge = (): void => {
    // A stream over a WebSocket ends with its connection, every other response before it.
    raw.off('close', charge)
    socket.off('close', charge)
    work.charge(workspaceId, costOfRequest(received + socket.bytesWritten - before))
  }
  raw.once('close', charge)
  socket.once('close', charge)
}

const USED_UP =
  'This workspace has used up the work that its plan allows. Send the request again after retry_after seconds, and ask for less at once.'
